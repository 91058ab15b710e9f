"""Checks of the code that travels with an adapter. It is read and never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from warmstack.adapters.bundled import formatter_file
from warmstack.adapters.contents import BRIDGE, FORMATTERS, LARGEST_CODE_BYTES, RUNTIME, Contents
from warmstack.adapters.problems import Problem, error, note, warning
from warmstack.adapters.target import Target
from warmstack.plan import FIRST_LMI_WITH_OUTPUT_FORMATTERS
from warmstack.spec import formatter_faults, formatter_functions

_PACK = "pack the adapter with --code formatters.py"
_READS_CODE = 18


def check_code(contents: Contents, target: Target | None) -> Iterator[Problem]:
    """Yield what keeps the adapter's formatters from being found or loaded."""
    files, texts = contents.files, contents.texts
    for name in (FORMATTERS, BRIDGE, RUNTIME):
        if name in files and name not in texts:
            value = f"it has {files[name].size:,} bytes"
            yield error("code", name, value, f"code has {LARGEST_CODE_BYTES:,} at the most", "keep data out of it")
    trees = {name: _tree(texts[name]) for name in (FORMATTERS, BRIDGE, RUNTIME) if name in texts}
    for name, tree in trees.items():
        if isinstance(tree, str):
            yield error("code", name, tree, "it must be Python", "mend it, and pack the adapter again")
    if target is not None and target.lmi_release is not None and BRIDGE in files:
        yield from _release(target.lmi_release)
    if target is not None and target.server != "lmi" and not target.built and FORMATTERS in files:
        value = f"the spec has the {target.server} server and image.build: none"
        rule = "the stock image does not read an adapter's formatters"
        yield warning("code", FORMATTERS, value, rule, "set image.build: codebuild in the spec")
    formatters = trees.get(FORMATTERS)
    if isinstance(formatters, ast.Module):
        yield from _formatters(formatters)
    if not contents.packed:
        return  # what lies beside the weights is not yet what is packed
    on_lmi = target is None or target.server == "lmi"
    if FORMATTERS in files and on_lmi and (BRIDGE not in files or RUNTIME not in files):
        value = f"{BRIDGE} and {RUNTIME} are not beside it" if BRIDGE not in files else f"{RUNTIME} is not beside it"
        yield error("code", FORMATTERS, value, f"LMI reads {BRIDGE} only, which needs both", _PACK)
    if BRIDGE in files and FORMATTERS not in files:
        rule = f"{BRIDGE} is read by LMI only, and {FORMATTERS} by every server"
        yield note("code", BRIDGE, f"{FORMATTERS} is not beside it", rule, _PACK)
    if RUNTIME in texts and texts[RUNTIME] != formatter_file(RUNTIME).read_bytes():
        value, rule = "it is of another version of Warmstack", "the two versions may differ in what they accept"
        yield note("code", RUNTIME, value, rule, _PACK)


def _release(release: int) -> Iterator[Problem]:
    # DJL Serving's branches 0.34.0-dlc to 0.36.0-lmi27-dlc, lmi_vllm/vllm_async_service.py, read 2026-11-30.
    fix = "name a newer engine.version in the spec"
    if release < _READS_CODE:
        rule = f"LMI reads an adapter's code from release {_READS_CODE} on"
        yield error("code", BRIDGE, f"the spec names LMI {release}", rule, fix)
    elif release < FIRST_LMI_WITH_OUTPUT_FORMATTERS:
        rule = f"LMI sends what an output formatter returns from release {FIRST_LMI_WITH_OUTPUT_FORMATTERS} on"
        yield warning("code", BRIDGE, f"the spec names LMI {release}", rule, fix)


def _tree(text: bytes) -> ast.Module | str:
    """Return the syntax tree, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a user's string is not for this command's output
            return ast.parse(text)
    except SyntaxError as problem:
        return f"line {problem.lineno}: {problem.msg}"
    except (ValueError, MemoryError, RecursionError) as problem:
        return str(problem) or "it is nested too deep"


def _formatters(tree: ast.Module) -> Iterator[Problem]:
    functions = formatter_functions(tree)
    for value, rule, fix in formatter_faults(functions):
        yield error("code", FORMATTERS, value, rule, fix)
    if not functions:
        value, rule = "no function has @input_formatter or @output_formatter", "without them it changes nothing"
        yield warning("code", FORMATTERS, value, rule, "put one of them above a function")
