"""`warmstack init`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from warmstack.catalog import load_catalog
from warmstack.cli.load import plan_file
from warmstack.errors import OutputError
from warmstack.plan import physical_name
from warmstack.spec import render

_TEMPLATE = """\
# yaml-language-server: $schema={schema}
# `warmstack validate {path}` checks it, `warmstack plan {path}` shows what it will hold and cost.
name: {name}
environment: dev
model:
  id: {model}
  # Weights in S3 start faster than the hub and need no token:
  # weights: {{s3: s3://my-bucket/{folder}/}}
engine:
  server: {server}
  version: {version}
endpoint:
  instance_type: {instance_type}
  instances: {{min: 1}}
"""


def write_spec(name: str, server: str, model: str, instance_type: str, folder: Path, *, force: bool) -> int:
    """Write a first spec and check it. Returns the exit code."""
    problem = _bad_words(name, model, instance_type)
    if problem is None and not str(folder).isprintable():
        problem = f"--folder is {str(folder)!r}; it must not hold control characters"
    if problem is not None:
        print(f"warmstack: {problem}", file=sys.stderr)
        return 1
    catalog = load_catalog()
    catalog.instance(instance_type)
    path = folder / f"{name}.yaml"
    text = _TEMPLATE.format(
        schema=_schema_path(folder),
        path=path.as_posix(),
        name=name,
        model=model,
        folder=model.rsplit("/", 1)[-1].lower(),
        server=server,
        version=catalog.image(server).version,
        instance_type=instance_type,
    )
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
    except OSError as error:
        raise OutputError(f"the folder {folder.as_posix()} cannot be made: {error.strerror}") from error
    try:
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        print(f"warmstack: {path.as_posix()} exists; --force replaces it", file=sys.stderr)
        return 1
    except OSError as error:
        raise OutputError(f"{path.as_posix()} cannot be written: {error.strerror}") from error
    outcome = plan_file(path)
    sys.stdout.write(render(outcome.diagnostics, outcome.lines))
    failed = outcome.failed(strict=False)
    then = "edit it, or init again with --force" if failed else f"the endpoint will be {physical_name(name, 'dev')}"
    print(f"{path.as_posix()}: written{', but not valid yet' if failed else ''}; {then}")
    return int(failed)


def _schema_path(folder: Path) -> str:
    """Return the way from the spec to the schema of this clone; without one here, the usual one."""
    schema = Path("schemas") / "deployment.schema.json"
    if not schema.exists():
        return f"../{schema.as_posix()}"
    return Path(os.path.relpath(schema, folder)).as_posix()


def _bad_words(name: str, model: str, instance_type: str) -> str | None:
    """Return what is wrong with a word before it is written into a file, or None."""
    rules = (
        ("NAME", name, r"[a-z][a-z0-9]*(-[a-z0-9]+)*", "lower-case letters, digits and single hyphens", 40),
        (
            "--model",
            model,
            r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?",
            "a hub id, owner/name",
            200,
        ),
        ("--instance-type", instance_type, r"ml\.[a-z0-9-]+\.[a-z0-9]+", "a type such as ml.g5.12xlarge", 60),
    )
    for label, word, pattern, rule, most in rules:
        if re.fullmatch(pattern, word) is None or len(word) > most:
            return f"{label} is {word!r}; it must be {rule}, at most {most} characters"
    return None
