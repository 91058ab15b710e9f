"""The small types that the spec's fields share: names, sizes, times, locations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from warmstack.units import PERCENT_PATTERN, SIZE_PATTERN, TIME_PATTERN, parse_seconds, parse_size

NAME_PATTERN = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
NAME_RULE = "lower-case letters, digits and single hyphens, starting with a letter"


class SpecModel(BaseModel):
    """The base of every mapping in a spec: frozen, strict, unknown keys are errors.

    Every field is documented by the string below it. ``schema.py`` reads those from the source when a schema is
    asked for; pydantic would read them at every start, which doubles the time of `warmstack validate`.
    """

    # defer_build: only the root's validator is built, not one more for each class it is made of.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def default(model: type[SpecModel], **values: Any) -> Any:
    """Return a field's default: the model with its own defaults, made without building a validator for it."""
    return Field(default_factory=lambda: model.model_construct(**values))


def described(rule: str | None = None, unit: str | None = None, *, secret: bool = False) -> dict[str, Any]:
    """Return the schema notes that messages and the reference read: ``x-rule``, ``x-unit``, ``x-secret``.

    Args:
        rule: what a value must be, to follow "it must be".
        unit: the unit of a number.
        secret: a wrong value may be a secret, so messages must not repeat it.
    """
    notes = {"x-rule": rule, "x-unit": unit, "x-secret": secret or None}
    return {key: value for key, value in notes.items() if value is not None}


def _only_text(parse: Callable[[str], int], example: str) -> Callable[[object], int]:
    def convert(value: object) -> int:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} has no unit: write a number and a unit, such as {example}")
        return parse(value)

    return convert


Size = Annotated[
    int,
    BeforeValidator(_only_text(parse_size, "400GiB")),
    WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN}),
]
"""Bytes, written as ``400GiB``, ``1.5TiB`` or ``500MB``."""

Duration = Annotated[
    int,
    BeforeValidator(_only_text(parse_seconds, "20m")),
    WithJsonSchema({"type": "string", "pattern": TIME_PATTERN}),
]
"""Seconds, written as ``90s``, ``20m`` or ``2h``."""

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=63, json_schema_extra=described(NAME_RULE))]
"""A name that enters physical names and construct ids."""

ListItemName = Annotated[str, Field(pattern=NAME_PATTERN, max_length=40, json_schema_extra=described(NAME_RULE))]


class TierSize(SpecModel):
    """How large a tier is: ``auto``, ``none``, a share (``60%``) or a size (``400GiB``)."""

    kind: Literal["auto", "none", "percent", "bytes"]
    """Which of the four forms was written."""
    value: int = 0
    """Percent (1..100) or bytes; 0 for ``auto`` and ``none``."""


def _tier_size(value: object) -> object:
    if isinstance(value, TierSize):
        return value
    if value in ("auto", "none"):
        return TierSize(kind="auto" if value == "auto" else "none")
    if isinstance(value, str) and value.endswith("%"):
        if re.fullmatch(PERCENT_PATTERN, value) is None:
            raise ValueError(f"{value!r} is not a share: write a whole percentage from 1% to 100%")
        return TierSize(kind="percent", value=int(value[:-1]))
    if isinstance(value, str):
        size = parse_size(value)
        if size == 0:
            raise ValueError(f"{value!r} is no tier; write none")
        return TierSize(kind="bytes", value=size)
    raise ValueError(f"{value!r} is not a tier's size: write auto, none, a share (60%) or a size (400GiB)")


Tier = Annotated[
    TierSize,
    BeforeValidator(_tier_size),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["auto", "none"]},
                {"type": "string", "pattern": PERCENT_PATTERN},
                {"type": "string", "pattern": SIZE_PATTERN},
            ]
        }
    ),
]


# No * or ?: the path enters IAM resources, where they would be wildcards.
_S3_FORM = "^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/"
_S3_PART = r"[A-Za-z0-9!_.'()=+@-]+"


def _whole_path(value: str) -> str:
    bucket, *parts = value.removeprefix("s3://").rstrip("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{value!r} has an empty, '.' or '..' part; write the whole S3 path")
    if ".." in bucket or ".-" in bucket or "-." in bucket or re.fullmatch(r"[0-9.]+", bucket):
        raise ValueError(f"{value!r} names the bucket {bucket!r}, which is no valid bucket name")
    return value


S3Prefix = Annotated[
    str,
    Field(
        pattern=f"{_S3_FORM}({_S3_PART}/)*$",
        max_length=1024,
        json_schema_extra=described("an S3 prefix that ends with '/', such as s3://bucket/models/qwen/"),
    ),
    AfterValidator(_whole_path),
]
"""A folder in S3. SageMaker takes only a prefix that ends with ``/`` (S3DataSource.S3Uri)."""

S3Archive = Annotated[
    str,
    Field(
        pattern=rf"{_S3_FORM}({_S3_PART}/)*{_S3_PART}\.tar\.gz$",
        max_length=1024,
        json_schema_extra=described("an S3 object that ends with .tar.gz, such as s3://bucket/legal.tar.gz"),
    ),
    AfterValidator(_whole_path),
]
"""An archive in S3."""

SecretArn = Annotated[
    str,
    Field(
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+$",
        json_schema_extra=described("the ARN of a Secrets Manager secret, never the token itself", secret=True),
    ),
]
