"""`warmstack render`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warmstack.cli.load import plan_file
from warmstack.plan import Plan, claimed_twice
from warmstack.render import RenderError, render_contexts, serving_properties, write_contexts
from warmstack.spec import printable
from warmstack.spec import render as render_messages


def render_specs(paths: Sequence[Path], folder: Path, *, properties: bool, as_json: bool) -> int:
    """Write the images' build contexts and say where. Returns the exit code; an invalid spec writes nothing."""
    plans: list[tuple[Path, Plan]] = []
    failed = False
    for path in paths:
        outcome = plan_file(path)
        if outcome.errors or outcome.plan is None:
            failed = True
            # JSON on standard output must stay JSON.
            (sys.stderr if as_json else sys.stdout).write(render_messages(outcome.errors, outcome.lines))
        else:
            plans.append((path, outcome.plan))
    twice = [] if failed else list(claimed_twice([(str(path), plan) for path, plan in plans]))
    for problem in twice:
        print(f"warmstack: {problem}", file=sys.stderr)
    if failed or twice:
        return 1
    written = [_write(plan, folder / plan.stack_name, properties=properties) for _, plan in plans]
    if as_json:
        print(json.dumps({"stacks": written}, indent=2))
        return 0
    for one in written:
        _tell(one)
    return 0


def _write(plan: Plan, folder: Path, *, properties: bool) -> dict[str, Any]:
    contexts = render_contexts(plan)
    places = write_contexts(contexts, folder)
    return {
        "stack": plan.stack_name,
        "images": [
            {
                "name": image.name,
                "mode": image.mode,
                "repository": f"{image.base.repository}:{image.base.tag}",
                "folder": places[context.name].as_posix(),
                "sha256": context.digest,
                "base": image.base_uri,
                "files": list(context.files),
            }
            for image, context in zip(plan.images, contexts, strict=True)
        ],
        "serving_properties": _write_properties(plan, folder) if properties else [],
    }


def _write_properties(plan: Plan, folder: Path) -> list[str]:
    texts = {
        folder / f"{served.component or 'model'}.serving.properties": serving_properties(served)
        for served in plan.models
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RenderError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    return [path.as_posix() for path in texts]


def _tell(one: dict[str, Any]) -> None:
    for image in one["images"]:
        print(f"{one['stack']}: {printable(image['folder'])} ({len(image['files'])} files)")
        if image["mode"] == "codebuild":
            print("  CodeBuild builds it while the stack deploys; to try it here:")
        base = "" if image["base"] else f"--build-arg BASE_IMAGE=REGISTRY/{image['repository']} "
        print(f"  docker build --platform linux/amd64 {base}-t {image['name']} {printable(image['folder'])}")
        if base:
            print("  (the registry differs from Region to Region: with target in the spec it is filled in)")
    for path in one["serving_properties"]:
        print(f"{one['stack']}: {printable(path)}: put it beside the weights as serving.properties")
    if not one["images"] and not one["serving_properties"]:
        print(f"{one['stack']}: nothing to build: image.build is none, the stock image")
