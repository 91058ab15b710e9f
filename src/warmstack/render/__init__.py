"""Plan → files: the build contexts of the images, in memory first, then on disk; the same bytes everywhere."""

from warmstack.render.context import BuildContext, ContextFile, render_contexts
from warmstack.render.properties import serving_properties
from warmstack.render.templates import RenderError
from warmstack.render.writer import write_contexts

__all__ = [
    "BuildContext",
    "ContextFile",
    "RenderError",
    "render_contexts",
    "serving_properties",
    "write_contexts",
]
