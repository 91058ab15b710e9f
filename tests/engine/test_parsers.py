"""The engines' own parsers read everything that is rendered: run by `make test-engine`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.commands import command, lmi_settings
from tests.engine.plans import served_models
from warmstack.catalog import VLLM_REASONING_PARSERS, VLLM_TOOL_PARSERS, load_catalog
from warmstack.local.engines import Tiers, TranslationRequest, read_model, translate
from warmstack.local.engines.vllm import FIXED_ARGUMENTS
from warmstack.render.templates import render_template

pytestmark = pytest.mark.engine
HERE = Path(__file__).parent
SERVED = served_models()


def ask(engine_python: Path, oracle: str, question: object) -> Any:
    """Return what an oracle answers; it runs in the engine's environment."""
    done = subprocess.run(
        [engine_python, HERE / oracle],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def _with_files(arguments: list[str], model: Path) -> list[str]:
    """Name files that are there: vLLM looks at the model's config and at the template while it reads arguments."""
    replaced = list(arguments)
    replaced[replaced.index("--model") + 1] = str(model)
    if "--chat-template" in replaced:
        replaced[replaced.index("--chat-template") + 1] = str(model / "chat_template.jinja")
    return replaced


@pytest.fixture(scope="module")
def vllm_answers(engine_python: Path, tiny_model: Path) -> dict[str, Any]:
    commands = {name: command(one) for name, one in SERVED.items() if one.server != "sglang"}
    names = {name for one in SERVED.values() if one.server == "lmi" for name in lmi_settings(one.environment)}
    question = {"arguments": [_with_files(one, tiny_model) for one in commands.values()], "names": sorted(names)}
    answer = ask(engine_python, "vllm_oracle.py", question)
    complaints = {
        name: f"{said} ({' '.join(one)})"
        for (name, one), said in zip(commands.items(), answer["answers"], strict=True)
        if said is not None
    }
    return {"complaints": complaints, "asked": names, **answer}


def test_vllm_takes_every_argument_list(vllm_answers: dict[str, Any]) -> None:
    assert {one.server for one in SERVED.values()} >= {"lmi", "vllm"}
    assert vllm_answers["complaints"] == {}


def test_lmi_keeps_every_setting(vllm_answers: dict[str, Any]) -> None:
    """LMI drops what is no field of EngineArgs, without a word."""
    assert vllm_answers["asked"] - set(vllm_answers["fields"]) == set()
    assert {"tensor_parallel_size", "max_model_len"} <= vllm_answers["asked"]


def test_the_parsers_of_the_catalog_are_the_registered_ones(vllm_answers: dict[str, Any]) -> None:
    assert set(vllm_answers["tool_parsers"]) == set(VLLM_TOOL_PARSERS)
    assert set(vllm_answers["reasoning_parsers"]) == set(VLLM_REASONING_PARSERS)


def test_vllm_refuses_what_it_does_not_know(engine_python: Path) -> None:
    """The judge can say no."""
    question = {"arguments": [["--no-such-flag"], ["--max-lora-rank", "7"]], "names": ["no_such_field"]}
    answer = ask(engine_python, "vllm_oracle.py", question)
    assert "unrecognized arguments: --no-such-flag" in answer["answers"][0]
    assert "invalid choice" in answer["answers"][1]
    assert answer["fields"] == []


def test_vllm_takes_what_the_local_endpoint_makes_of_it(engine_python: Path, tiny_model: Path) -> None:
    model = replace(read_model(tiny_model), stands_in=True)
    tables = load_catalog().flags
    translations = {}
    for name, one in SERVED.items():
        request = TranslationRequest(server=one.server, environment=one.environment, model=model, tables=tables)
        translations[name] = translate(request)
    fixed = ["--model", str(tiny_model), *FIXED_ARGUMENTS]
    arguments = [[*one.arguments, *fixed] for one in translations.values()]
    answer = ask(engine_python, "vllm_oracle.py", {"arguments": arguments, "names": []})
    complaints = {name: said for name, said in zip(translations, answer["answers"], strict=True) if said is not None}
    assert complaints == {}
    assert {one.tiers for one in translations.values()} >= {None, Tiers(), Tiers(disk=True)}
    assert any("--speculative-config" in one.arguments for one in translations.values())


def test_sglang_takes_every_argument_list(engine_python: Path) -> None:
    commands = {name: command(one) for name, one in SERVED.items() if one.server == "sglang"}
    answers = ask(engine_python, "sglang_oracle.py", list(commands.values()))
    complaints = {name: said for name, said in zip(commands, answers, strict=True) if said is not None}
    assert commands
    assert complaints == {}


def test_sglang_refuses_what_it_does_not_know(engine_python: Path) -> None:
    question = [["--model-path", "x", "--no-such-flag"], ["--model-path", "x", "--hicache-storage-backend", "tape"]]
    first, second = ask(engine_python, "sglang_oracle.py", question)
    assert "unrecognized arguments: --no-such-flag" in first
    assert "invalid choice" in second


def _complaints(answers: list[Any], names: Mapping[str, object]) -> dict[str, Any]:
    return {name: one["complaints"] for name, one in zip(names, answers, strict=True) if one["complaints"]}


def test_lmcache_takes_every_file(engine_python: Path, tmp_path: Path) -> None:
    files: dict[str, Path] = {}
    for number, (name, one) in enumerate(SERVED.items()):
        if one.carried.lmcache:
            text = render_template("lmcache.yaml.j2", {"folder": "x", "settings": one.carried.lmcache})
            files[name] = tmp_path / f"{number}.yaml"
            files[name].write_text(text, encoding="utf-8")
    assert len(files) > 20
    answers = ask(engine_python, "lmcache_oracle.py", [{"yaml": str(path)} for path in files.values()])
    assert _complaints(answers, files) == {}
    for name, answer in zip(files, answers, strict=True):
        for key, value in SERVED[name].carried.lmcache.items():
            read = answer["values"][key]
            expected = list(value) if isinstance(value, tuple) else value
            # LMCache takes the path out of the file:// of its disk.
            assert read == (str(expected).removeprefix("file://") if key == "local_disk" else expected), (name, key)


def test_lmcache_reads_the_same_from_the_environment(engine_python: Path) -> None:
    environments = {
        name: {key: value for key, value in one.environment.items() if key.startswith("LMCACHE_")}
        for name, one in SERVED.items()
        if one.image.build is None and one.carried.lmcache
    }
    answers = ask(engine_python, "lmcache_oracle.py", [{"environment": one} for one in environments.values()])
    assert _complaints(answers, environments) == {}
    assert len(environments) > 10


def test_lmcache_refuses_what_it_would_forgive(engine_python: Path, tmp_path: Path) -> None:
    """The judge can say no: LMCache itself only warns."""
    file = tmp_path / "bad.yaml"
    file.write_text("chunk_size: many\nno_such_key: 1\nmin_retrieve_tokens: -1\n", encoding="utf-8")
    (answer,) = ask(engine_python, "lmcache_oracle.py", [{"yaml": str(file)}])
    said = " ".join(answer["complaints"])
    for part in ("unknown key no_such_key", "chunk_size became None", "min_retrieve_tokens must be >= 0"):
        assert part in said
