"""Cases of the checks of images of ours."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import ADAPTERS, BUILT, HERE, SESSIONS, TWO, Case, Change, component
from tests.unit.plan.specs import FILES, SGLANG, VLLM

DOCKER: Change = {"image": {"build": "docker"}}
PUBLIC: Change = {"image": {"base": "public.ecr.aws/deep-learning-containers/vllm:0.30.0"}}
TEMPLATE: Change = {"model": {"chat_template": "chat.jinja"}, FILES: {"chat.jinja": "{{ messages }}"}}
CODE = "from warmstack_formatters import input_formatter\n\n\n@input_formatter\ndef f(x): return x\n"
FORMATTERS: Change = {"model": {"formatters": "formatters.py"}, FILES: {"formatters.py": CODE}}
OUTPUT: Change = {**FORMATTERS, FILES: {"formatters.py": CODE.replace("input_", "output_")}}
MENTIONED: Change = {**FORMATTERS, FILES: {"formatters.py": f"{CODE}# There is no output_formatter here.\n"}}
RENAMED: Change = {
    **FORMATTERS,
    FILES: {"formatters.py": "from w import output_formatter as o\n\n\n@o\ndef f(x): return x\n"},
}
HUB: Change = {"model": {"weights": {"s3": None, "hub": {"revision": "main"}}}}

CASES = (
    Case(
        check="WS110",
        bad=[VLLM, TEMPLATE, DOCKER],
        good=[VLLM, TEMPLATE, DOCKER, HERE],
        path=("image", "build"),
        says="before anyone knows the Region",
    ),
    Case(
        check="WS110",
        label="a public base is everywhere",
        bad=[VLLM, TEMPLATE, DOCKER],
        good=[VLLM, TEMPLATE, DOCKER, PUBLIC],
        path=("image", "build"),
        says="vllm",
    ),
    Case(
        check="WS110",
        label="CodeBuild knows the Region",
        bad=[VLLM, TEMPLATE, DOCKER],
        good=[VLLM, TEMPLATE, BUILT],
        path=("image", "build"),
        says="docker",
    ),
    Case(
        check="WS111",
        bad=[VLLM, PUBLIC],
        good=[VLLM, PUBLIC, TEMPLATE, DOCKER],
        path=("image", "base"),
        says="public.ecr.aws",
    ),
    Case(
        check="WS112",
        bad=[TEMPLATE],
        good=[TEMPLATE, BUILT],
        path=("model", "chat_template"),
        says="chat_template",
    ),
    Case(
        check="WS112",
        label="formatters",
        bad=[FORMATTERS],
        good=[FORMATTERS, BUILT],
        path=("model", "formatters"),
        says="image.build is none",
    ),
    Case(check="WS113", bad=[VLLM, BUILT], good=[VLLM, BUILT, TEMPLATE], path=("image", "build"), says="nothing"),
    Case(
        check="WS113",
        label="sglang gets its session server",
        bad=[VLLM, BUILT],
        good=[SGLANG, BUILT],
        path=("image", "build"),
        says="stock image",
    ),
    Case(
        check="WS113",
        label="adapters may bring formatters",
        bad=[VLLM, BUILT],
        good=[VLLM, BUILT, component(adapters=ADAPTERS)],
        path=("image", "build"),
        says="nothing",
    ),
    Case(
        check="WS114",
        bad=[FORMATTERS, BUILT, HUB],
        good=[FORMATTERS, BUILT],
        path=("model", "formatters"),
        says="beside the weights",
    ),
    Case(
        check="WS082",
        label="two chat templates",
        bad=[VLLM, TEMPLATE, BUILT, {"engine": {"options": {"chat_template": "/opt/ml/model/chat.jinja"}}}],
        good=[VLLM, BUILT, {"engine": {"options": {"chat_template": "/opt/ml/model/chat.jinja"}}}],
        path=("engine", "options", "chat_template"),
        says="repeats model.chat_template",
    ),
    Case(
        check="WS115",
        bad=[OUTPUT, BUILT, TWO, SESSIONS],
        good=[FORMATTERS, BUILT, TWO, SESSIONS],
        path=("model", "formatters"),
        says="none would open",
    ),
    Case(
        check="WS115",
        label="under another name, and not where it is only mentioned",
        bad=[RENAMED, BUILT, TWO, SESSIONS],
        good=[MENTIONED, BUILT, TWO, SESSIONS],
        path=("model", "formatters"),
        says="none would open",
    ),
    Case(
        check="WS116",
        bad=[OUTPUT, BUILT, {"engine": {"version": "0.36.0-lmi18.0.0-cu128"}}],
        good=[OUTPUT, BUILT, {"engine": {"version": "0.36.0-lmi20.0.0-cu128"}}],
        path=("model", "formatters"),
        says="LMI 20",
    ),
)
