"""What a file with formatters says of itself: read as a syntax tree and never run.

The rules are those of ``container/formatters/warmstack_formatters.py``, which refuses the file when a container
starts or an adapter is registered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

KINDS = ("input_formatter", "output_formatter")
"""The decorators, by their own names."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def formatter_functions(tree: ast.Module) -> dict[str, list[Function]]:
    """Return the decorated functions at the top of a file, by kind; a kind without one is left out."""
    names = _kinds_by_name(tree)
    # A later definition of a name replaces the earlier one.
    bound = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    found: dict[str, list[Function]] = {}
    for function in bound.values():
        for kind in dict.fromkeys(names.get(_last_name(mark) or "") for mark in function.decorator_list):
            if kind is not None:
                found.setdefault(kind, []).append(function)
    return found


def formatter_kinds(code: str) -> frozenset[str]:
    """Return the kinds that a file uses in any way, as a decorator or called; none where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = _kinds_by_name(tree)
    used = (names.get(_last_name(one) or "") for one in ast.walk(tree))
    return frozenset(kind for kind in used if kind is not None)


def formatter_faults(functions: Mapping[str, Sequence[Function]]) -> Iterator[tuple[str, str, str]]:
    """Yield what keeps the functions from being loaded: what was found, the rule, and the way out."""
    for kind, marked in functions.items():
        for one in marked:
            if isinstance(one, ast.AsyncFunctionDef):
                value = f"{one.name} in line {one.lineno} is async"
                yield value, "a formatter is a plain function", "write def instead of async def"
        if len(marked) > 1:
            names = " and ".join(one.name for one in marked)
            yield f"{names} are both @{kind}", "there can be one of each", "keep one"


def _kinds_by_name(tree: ast.Module) -> dict[str, str]:
    """Return what the decorators are called in this file: their own names, and those they are imported under."""
    imported = [alias for one in tree.body if isinstance(one, ast.ImportFrom) for alias in one.names]
    renamed = {alias.asname: alias.name for alias in imported if alias.name in KINDS and alias.asname}
    return {kind: kind for kind in KINDS} | renamed


def _last_name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
