"""The templates of a cloud assembly, or the one template of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warmstack.assembly.assets import Assets, read_assets
from warmstack.assembly.documents import DocumentError, read_document
from warmstack.assembly.unresolved import Problems

MANIFEST = "manifest.json"
# Stages in stages: the CDK nests assemblies a level for each.
_DEEPEST_STAGE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A template and where it is for.

    Args:
        stack: The name of its stack.
        names: Every name that the stack goes by: its own, the artifact's, the one that the CDK shows.
        file: The template's file.
        document: The template.
        account: The account of its environment, where the assembly says it.
        region: Likewise its Region.
        assets: What it publishes.
        deployed: The names that a deployment gave its resources, by their logical ids.
        is_open: Whether a name that CloudFormation makes is left open, and not made up, for what is not SageMaker's.
    """

    stack: str
    names: frozenset[str]
    file: Path
    document: Mapping[str, Any]
    account: str | None = None
    region: str | None = None
    assets: Assets = field(default_factory=Assets)
    deployed: Mapping[str, str] = field(default_factory=dict)
    is_open: bool = False


def find_sources(path: Path, problems: Problems) -> list[Source]:
    """Return the templates that a path leads to: a cloud assembly, its manifest, or a template."""
    if path.name == MANIFEST:
        path = path.parent
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            problems.add(str(path), f"holds no {MANIFEST}, so it is no cloud assembly; name a cdk.out or a template")
            return []
        return list(_of_assembly(path, problems, 0))
    if not path.exists():
        problems.add(str(path), "is not there; name a cdk.out (`cdk synth` writes it) or a template")
        return []
    if (path.parent / MANIFEST).is_file():
        beside = [one for one in _of_assembly(path.parent, Problems(), 0) if one.file == path]
        if beside:
            return beside
    try:
        document = read_document(path)
    except DocumentError as error:
        problems.add(str(path), str(error))
        return []
    stack = re.sub(r"[^A-Za-z0-9]+", "-", path.name.split(".")[0]).strip("-") or "template"
    return [Source(stack=stack, names=frozenset({stack}), file=path, document=document)]


def _of_assembly(folder: Path, problems: Problems, depth: int) -> Iterator[Source]:
    try:
        artifacts = read_document(folder / MANIFEST).get("artifacts")
    except DocumentError as error:
        problems.add(str(folder / MANIFEST), str(error))
        return
    if not isinstance(artifacts, dict):
        problems.add(str(folder / MANIFEST), "has no artifacts; a cloud assembly's manifest does")
        return
    for name, artifact in artifacts.items():
        properties = artifact.get("properties") if isinstance(artifact, dict) else None
        if not isinstance(properties, dict):
            continue
        kind = artifact.get("type")
        if kind == "aws:cloudformation:stack":
            source = _of_stack(folder, name, artifact, artifacts, problems)
            if source is not None:
                yield source
        elif kind == "cdk:cloud-assembly":
            directory = properties.get("directoryName")
            nested = _inside(folder, directory)
            if nested is None or depth >= _DEEPEST_STAGE:
                problems.add(str(folder / MANIFEST), f"the assembly {directory!r} of {name} is not in this folder")
            else:
                yield from _of_assembly(nested, problems, depth + 1)


def _of_stack(
    folder: Path, name: str, artifact: Mapping[str, Any], artifacts: Mapping[str, Any], problems: Problems
) -> Source | None:
    properties = artifact["properties"]
    file = _inside(folder, properties.get("templateFile"))
    if file is None:
        problems.add(str(folder / MANIFEST), f"the template of {name} is not in this folder")
        return None
    try:
        document = read_document(file)
    except DocumentError as error:
        problems.add(str(file), str(error))
        return None
    manifests = [
        manifest
        for other in _texts(artifact.get("dependencies"))
        if isinstance(artifacts.get(other), dict) and artifacts[other].get("type") == "cdk:asset-manifest"
        for manifest in [_inside(folder, (artifacts[other].get("properties") or {}).get("file"))]
        if manifest is not None
    ]
    try:
        assets = read_assets(manifests)
    except DocumentError as error:
        problems.add(str(folder), f"an asset manifest of {name} {error}")
        assets = Assets()
    stack = properties.get("stackName")
    if not isinstance(stack, str):
        stack = name
    shown = artifact.get("displayName")
    account, region = _environment(artifact.get("environment"))
    return Source(
        stack=stack,
        names=frozenset(one for one in (stack, name, shown) if isinstance(one, str)),
        file=file,
        document=document,
        account=account,
        region=region,
        assets=assets,
    )


def _environment(text: Any) -> tuple[str | None, str | None]:
    """Return the account and Region of ``aws://account/region``; None for what the app left open."""
    match = re.fullmatch(r"aws://([^/]+)/([^/]+)", text) if isinstance(text, str) else None
    if match is None:
        return None, None
    account, region = match.groups()
    return (
        None if account == "unknown-account" else account,
        None if region == "unknown-region" else region,
    )


def _inside(folder: Path, name: Any) -> Path | None:
    """Return a file or folder that is there and lies in the assembly."""
    if not isinstance(name, str) or "\0" in name:
        return None
    path = folder / name
    # Guard: a manifest that was handed over must not lead out of its folder.
    return path if path.exists() and path.resolve().is_relative_to(folder.resolve()) else None


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
