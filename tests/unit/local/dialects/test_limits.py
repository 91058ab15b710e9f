"""What is said at the start of what does not work here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.definitions import model
from warmstack.local.dialects.limits import said_at_start

MIDDLEWARE = "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS"
OURS = "/opt/warmstack/formatters/vllm_script.py:FormatterMiddleware"
FORMATTERS = "/opt/warmstack/models/chat/formatters.py"


@pytest.mark.parametrize(
    ("server", "environment", "options", "expected"),
    [
        ("vllm", {}, {}, None),
        ("lmi", {}, {}, None),
        (None, {}, {}, "nothing in the template says which server its image is"),
        ("vllm", {"SM_VLLM_TOOL_CALL_PARSER": "hermes"}, {}, "SM_VLLM_TOOL_CALL_PARSER cannot be tried: simulated"),
        ("lmi", {"OPTION_REASONING_PARSER": "x"}, {"real": True}, "OPTION_REASONING_PARSER cannot be tried: a small"),
        ("vllm", {"SM_VLLM_LIMIT_MM_PER_PROMPT": '{"image": 2}'}, {}, "images and sounds in messages"),
        ("vllm", {"SM_VLLM_LORA_MODULES": "a=/b"}, {}, "SM_VLLM_LORA_MODULES names adapters that simulated"),
        ("vllm", {"SM_VLLM_LORA_MODULES": "a=/b"}, {"real": True}, None),
        ("lmi", {"OPTION_TASK": "text-embedding"}, {}, "it embeds, scores or classifies"),
        ("lmi", {}, {"strategy": "KV_AWARE"}, "KV_AWARE is documented for the vLLM image"),
        ("vllm", {}, {"strategy": "KV_AWARE"}, None),
        ("vllm", {"CUSTOM_SCRIPT_FILENAME": "x.py"}, {}, "CUSTOM_SCRIPT_FILENAME is x.py, code of your own"),
        ("vllm", {"CUSTOM_SCRIPT_FILENAME": "x.py"}, {"real": True}, None),
        ("vllm", {MIDDLEWARE: "/x.py:Other"}, {}, f"{MIDDLEWARE} is /x.py:Other, code of your own"),
        ("vllm", {MIDDLEWARE: OURS}, {}, None),
        ("vllm", {MIDDLEWARE: OURS, "WARMSTACK_FORMATTERS": FORMATTERS}, {}, f"the formatters in {FORMATTERS} do not"),
        ("lmi", {"WARMSTACK_FORMATTERS": FORMATTERS}, {}, f"the formatters in {FORMATTERS} do not run"),
        ("lmi", {"OPTION_ROLLING_BATCH": "vllm"}, {}, "OPTION_ROLLING_BATCH is vllm; it answers as LMI's async"),
        ("lmi", {"OPTION_ROLLING_BATCH": "disable"}, {}, None),
        ("lmi", {"OPTION_ENTRYPOINT": "djl_python.huggingface"}, {}, "OPTION_ENTRYPOINT is djl_python.huggingface;"),
        ("lmi", {"OPTION_ENABLE_STATEFUL_SESSIONS": "false"}, {}, "OPTION_ENABLE_STATEFUL_SESSIONS is 'false', with"),
        ("lmi", {"OPTION_ENABLE_STATEFUL_SESSIONS": "false"}, {"defects": frozenset()}, None),
        ("lmi", {"SAGEMAKER_SECURE_MODE": "true"}, {}, "SAGEMAKER_SECURE_MODE is set"),
    ],
)
def test_sentences(
    server: str | None, environment: Mapping[str, str], options: Mapping[str, Any], expected: str | None
) -> None:
    said = said_at_start(model(server=server, environment=environment), **options)
    if expected is None:
        assert said == ()
    else:
        assert len(said) == 1
        assert said[0].startswith(f"model: {expected}")


def test_what_lies_in_s3_is_not_run(tmp_path: Path) -> None:
    weights = {"server": "lmi", "model_data": "s3://acme/model/"}
    assert "model.py beside the weights in S3" in said_at_start(model(**weights))[0]
    lora = {"OPTION_ENABLE_LORA": "true"}
    assert "model.py and adapters/ beside the weights" in said_at_start(model(**weights, environment=lora))[0]
    (tmp_path / "Dockerfile").write_text("FROM base\nCOPY model.py /opt/ml/model/model.py\n")
    (tmp_path / "model.py").touch()
    assert said_at_start(model(**weights, staged=tmp_path)) == ("model: formatters get tokenizer=None",)


def test_sglang_is_another_engine() -> None:
    stock = said_at_start(model(server="sglang", image="registry.example/sglang:0.5.20"))
    assert [one.split(" ")[1] for one in stock] == ["the", "its"]
    assert len(said_at_start(model(server="sglang", image="${Image}"))) == 1
