"""One image's build context: the Dockerfile and everything it copies, as bytes by path.

The order of files, their modes and their bytes depend on the plan and on this version of Warmstack alone, so that
two machines render the same context and the CDK sees the same asset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warmstack.authored import authored_folder
from warmstack.plan import FORMATTERS_FILE, INSIDE, LMCACHE_FILE, TEMPLATE_FILE, CarriedFiles, ImageBuild, Plan
from warmstack.render.parts import parts_of
from warmstack.render.templates import RenderError, render_template

# Of the authored folders an image takes the sources and the pinned requirements.
# The builder alone reads these two. The file is also how a folder is known again as one of ours.
DOCKERIGNORE, DOCKERIGNORE_TEXT = ".dockerignore", "Dockerfile\n.dockerignore\n"
TAKEN = (".py", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFile:
    """One file of a build context.

    Args:
        content: its bytes.
        executable: whether it may be run.
    """

    content: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildContext:
    """What ``docker build`` gets.

    Args:
        name: the image's name in the plan.
        files: by path, with slashes, sorted.
    """

    name: str
    files: Mapping[str, ContextFile]

    @property
    def digest(self) -> str:
        """The sha256 (hex) of all paths, modes and contents."""
        total = hashlib.sha256()
        for path, file in self.files.items():
            head = f"{path}\0{int(file.executable)}\0{len(file.content)}\0"
            total.update(head.encode() + file.content)
        return total.hexdigest()


def render_contexts(plan: Plan) -> tuple[BuildContext, ...]:
    """Return the build contexts of the plan's images, by name; none for stock images.

    Raises:
        RenderError: a value cannot be written into a file.
    """
    return tuple(_context(image) for image in plan.images)


def _context(image: ImageBuild) -> BuildContext:
    parts = parts_of(image)
    files: dict[str, ContextFile] = {}
    for model in image.models:
        files.update(_model_files(model))
    for name in parts.authored:
        files.update(_authored(name))
    values = {"image": image, "parts": parts, "inside": INSIDE}
    files["Dockerfile"] = _text(render_template(f"{image.server}/Dockerfile.j2", values))
    # The rest is copied folder by folder; these two are for the builder alone.
    files[DOCKERIGNORE] = _text(DOCKERIGNORE_TEXT)
    return BuildContext(name=image.name, files=dict(sorted(files.items())))


def _model_files(model: CarriedFiles) -> Iterator[tuple[str, ContextFile]]:
    if model.lmcache:
        text = render_template("lmcache.yaml.j2", {"folder": model.folder, "settings": model.lmcache})
        yield f"{model.folder}/{LMCACHE_FILE}", _text(text)
    if model.chat_template is not None:
        yield f"{model.folder}/{TEMPLATE_FILE}", _text(model.chat_template)
    if model.formatters is not None:
        yield f"{model.folder}/{FORMATTERS_FILE}", _text(model.formatters)


def _text(text: str) -> ContextFile:
    return ContextFile(content=text.encode())


def _authored(name: str) -> Iterator[tuple[str, ContextFile]]:
    """Yield the files of a folder of ``container/`` that an image takes: no bytecode, nothing for development."""
    folder = authored_folder("container") / name
    if not folder.is_dir():
        raise RenderError(f"{folder} is missing: this installation of Warmstack is not whole; install it again")
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and "__pycache__" not in parts and path.suffix in TAKEN:
            # One kind of line break, whatever a checkout made of it.
            content = path.read_bytes().replace(b"\r\n", b"\n")
            yield "/".join((name, *parts)), ContextFile(content=content)
