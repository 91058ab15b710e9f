"""The error tree: everything that Warmstack raises on purpose.

::

    WarmstackError
    ├── SpecError      the text of a spec file (every problem at once, with file, line and column)
    ├── CatalogError   a name that the catalog does not hold, or facts it does not have
    ├── PlanError      a valid spec that no plan can serve (the error findings)
    ├── PayloadError   a request's body that has no canonical bytes, or an identifier that SageMaker refuses
    ├── WorkloadError  a file of recorded requests that cannot be read
    ├── LintError      settings that the lint of prompts cannot use
    ├── RenderError    a file of an image that cannot be rendered or written
    ├── AdapterError   an adapter that cannot be read, packed or stored
    ├── AssemblyError  a template or cloud assembly that cannot be read, or that defines nothing to serve
    ├── RoutingError   a routing choice that does not exist, or does not have that value
    ├── OperateError   a look at AWS, before or after a deploy, that cannot begin
    ├── LocalError     a local endpoint that cannot start, or cannot do what it was asked
    ├── EndpointError  a request of the client that failed: drawn further in client/failures.py
    ├── ContainerGoneError  a copy of the local endpoint that does not answer
    └── OutputError    a file or folder that could not be written

The command line maps each to exit code 1 and one readable message; a traceback is a defect.
"""

from __future__ import annotations


class WarmstackError(Exception):
    """The base of every error that Warmstack raises on purpose. ``str(error)`` is a whole message."""


class CatalogError(WarmstackError):
    """A name that the catalog does not hold (with the nearest names), or a fact that it lacks."""


class OutputError(WarmstackError):
    """A file or folder that could not be written: the path, and what the system answered."""
