"""The page of the command line, from the commands as they are registered."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo

from warmstack.cli.app import app
from warmstack.cli.client_app import client_app
from warmstack.cli.lint_prompts import lint_prompts_app
from warmstack.cli.local_app import local_app
from warmstack.cli.operate_app import operate_app
from warmstack.cli.reference.markdown import code, page, table

_INTRODUCTION = """\
Every command answers `--help` with what this page says. AWS is called by `warmstack chat`, `warmstack invoke` and
`warmstack verify` without `--local`, by `--stack` of these and of `warmstack client-config`, by `warmstack preflight`,
by `warmstack adapter pack --upload`, and by nothing else. Messages and results go to standard output, complaints about
the command itself to standard error.

| exit code | meaning |
|---|---|
| 0 | nothing is wrong, or no worse than a warning (a note, with `--strict`) |
| 1 | the input is invalid, a check found an error, a file could not be read, or output not written |
| 2 | the command line itself is wrong |
| 130 | interrupted with Ctrl-C |

Output is coloured on a terminal only; a pipe gets plain text, 120 columns wide. An internal error ends with exit code 1
and one line; `WARMSTACK_TRACEBACK=1` shows where it happened."""


def commands_page() -> str:
    """Return the page with the usage, the arguments and the options of every command."""
    sections = [_section(name, callback) for name, callback in commands()]
    return page("Command line", _INTRODUCTION, *sections)


def commands() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield each command's full name, such as ``warmstack catalog flags``, with the function behind it."""
    yield "warmstack", _required(app.registered_callback.callback if app.registered_callback else None)
    yield from _commands_of(app, "warmstack")
    yield from _commands_of(client_app, "warmstack")
    yield from _commands_of(lint_prompts_app, "warmstack")
    yield from _commands_of(operate_app, "warmstack")
    yield from _commands_of(local_app, "warmstack local")


def _commands_of(group: typer.Typer, prefix: str) -> Iterator[tuple[str, Callable[..., object]]]:
    for info in group.registered_commands:
        callback = _required(info.callback)
        yield f"{prefix} {info.name or callback.__name__}", callback
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from _commands_of(inner.typer_instance, f"{prefix} {inner.name}")


def _required(callback: Callable[..., object] | None) -> Callable[..., object]:
    assert callback is not None  # a registered command has a function
    return callback


def _section(name: str, callback: Callable[..., object]) -> str:
    parameters = [_Parameter(one) for one in inspect.signature(callback, eval_str=True).parameters.values()]
    arguments = [one for one in parameters if one.is_argument]
    usage = " ".join([name, "[OPTIONS]", *(one.usage for one in arguments)])
    if name == "warmstack":
        usage += " COMMAND"
    rows = [one.row for one in parameters] + [(code("--help"), "", "Show the usage and exit.")]
    return "\n\n".join(
        (
            f"## `{name}`",
            inspect.getdoc(callback) or "",
            f"```text\n{usage}\n```",
            table(("argument or option", "default", "meaning"), rows),
        )
    )


class _Parameter:
    """One parameter of a command's function, as its annotation describes it."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        self._default = parameter.default
        self._type, self._info = get_args(parameter.annotation)
        self._name = parameter.name
        self.is_argument = isinstance(self._info, ArgumentInfo)

    @property
    def usage(self) -> str:
        """The argument in a usage line."""
        return str(self._info.metavar or self._name.upper())

    @property
    def row(self) -> tuple[str, str, str]:
        """The parameter as a row of the table."""
        absent = self._default is None or self._default is False or self._default in (inspect.Parameter.empty, ())
        default = "" if absent else code(_shown(self._default))
        meaning = str(self._info.help)
        if self.is_argument:
            return code(self.usage), "required" if self._default is inspect.Parameter.empty else default, meaning
        assert isinstance(self._info, OptionInfo)
        # In an annotation typer keeps the first name where a default would stand.
        names = [one for one in (self._info.default, *(self._info.param_decls or ())) if isinstance(one, str)]
        name = names[0] if names else f"--{self._name.replace('_', '-')}"
        value = "" if self._type is bool else f" {self._value()}"
        return code(name + value), default, meaning

    def _value(self) -> str:
        if self._info.metavar:
            return f"{self._info.metavar}{' …' if get_origin(self._type) is list else ''}"
        if isinstance(self._type, type) and issubclass(self._type, enum.Enum):
            return "|".join(str(one.value) for one in self._type)
        assert get_origin(self._type) is None
        return {"Path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}[self._type.__name__]


def _shown(default: Any) -> str:
    return str(default.value) if isinstance(default, enum.Enum) else str(default)
