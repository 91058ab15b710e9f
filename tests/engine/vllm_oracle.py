"""vLLM's real argument parser as a judge: runs in the engine environment, JSON in and out.

Reads ``{"arguments": [[...]], "names": [...]}`` from standard input. Answers, for each argument list, the parser's
complaint or null; which of the names are fields of EngineArgs (LMI keeps those and drops any other); and the names that
the parsers of tool calls and reasoning are registered under.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys

os.environ |= {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}


def main() -> None:
    """Judge every list."""
    from vllm.engine.arg_utils import AsyncEngineArgs, EngineArgs
    from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = make_arg_parser(FlexibleArgumentParser())
    asked = json.load(sys.stdin)
    answers: list[str | None] = []
    for arguments in asked["arguments"]:
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                parsed = parser.parse_args(arguments)
                validate_parsed_serve_args(parsed)
                AsyncEngineArgs.from_cli_args(parsed)
            answers.append(None)
        except SystemExit:
            answers.append(said.getvalue().strip().splitlines()[-1])
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
    fields = EngineArgs.__dataclass_fields__
    result = {
        "answers": answers,
        "fields": [name for name in asked["names"] if name in fields],
        "tool_parsers": sorted(ToolParserManager.list_registered()),
        "reasoning_parsers": sorted(ReasoningParserManager.list_registered()),
    }
    # vLLM prints to standard output while it starts; the last line is ours.
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    main()
