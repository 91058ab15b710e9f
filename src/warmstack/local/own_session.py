"""botocore as it comes, without anything that the user has configured: this server is no client of AWS.

A profile that does not exist, a configuration file that cannot be read, or another model of a service is a matter
between the user and AWS. None of it may change what the server answers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

_FILES = {"AWS_CONFIG_FILE": "config_file", "AWS_SHARED_CREDENTIALS_FILE": "credentials_file"}
"""botocore reads these files even where no variable names them."""


def own_session() -> Any:
    """Return a session of botocore that reads neither the environment nor files of the user."""
    from botocore.session import Session

    # Every variable of a session keeps its default, and has no name under which it could be configured.
    variables = {name: (None, None, *rest) for name, (_, _, *rest) in Session.SESSION_VARIABLES.items()}
    variables |= dict.fromkeys(_FILES.values(), (None, None, os.devnull, None))
    session = Session(session_vars=variables)
    session.register_component("data_loader", _loader())
    return session


@functools.cache
def service_model(service: str) -> Any:
    """Return botocore's own model of a service."""
    from botocore.model import ServiceModel

    return ServiceModel(_loader().load_service_model(service, "service-2"), service)


@contextmanager
def nothing_configured(environment: MutableMapping[str, str] = os.environ) -> Iterator[None]:
    """Take what configures clients of AWS out of the environment for a while: moto makes sessions of its own.

    Args:
        environment: This process's environment.
    """
    taken = {name: environment.pop(name) for name in list(environment) if name.startswith("AWS_")}
    environment.update(dict.fromkeys(_FILES, os.devnull))
    try:
        yield
    finally:
        for name in _FILES:
            environment.pop(name, None)
        environment.update(taken)


def _loader() -> Any:
    from botocore.loaders import Loader

    # Guard: the loader's own search path begins in the user's ~/.aws/models.
    return Loader(extra_search_paths=[Loader.BUILTIN_DATA_PATH], include_default_search_paths=False)
