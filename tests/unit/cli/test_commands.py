"""The commands, as a user or a script runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.unit.cli.runner import Runner, write

GOOD = "sticky-chat.yaml"


def test_validate(run: Runner, warned: Path, broken: Path) -> None:
    out = run("validate", f"specs/{GOOD}")
    assert (run.code, out) == (0, f"specs/{GOOD}: valid\n")
    out = run("validate", str(warned))
    assert run.code == 0
    assert "warning WS004" in out
    assert out.endswith("valid (1 warning)\n")
    assert run("validate", "--strict", str(warned)).endswith("invalid with --strict (1 warning)\n")
    assert run.code == 1
    out = run("validate", f"specs/{GOOD}", str(broken))
    assert run.code == 1
    assert "broken.yaml:2:1: error: unknown key 'modle'; did you mean 'model'?" in out
    assert f"specs/{GOOD}: valid" in out


def test_validate_for_scripts(run: Runner, warned: Path, broken: Path) -> None:
    messages = json.loads(run("validate", "--format", "json", str(warned), str(broken)))
    assert run.code == 1
    assert {(one["check"], one["severity"]) for one in messages} == {("WS004", "warning"), (None, "error")}
    assert json.loads(run("validate", "--format", "json", f"specs/{GOOD}")) == []
    assert json.loads(run("validate", "--json", str(warned), str(broken))) == messages
    run("validate", "--json", "--format", "github", "x.yaml")
    assert (run.code, "--json and --format github exclude" in run.err) == (2, True)
    out = run("validate", "--format", "github", str(warned))
    assert out.startswith("::warning file=")
    assert run("validate", "--format", "github", f"specs/{GOOD}") == ""


def test_acknowledged_warnings_are_counted_not_shown(run: Runner, warned: Path) -> None:
    write(warned, warned.read_text(encoding="utf-8") + 'acknowledge: {WS004: "upgraded by hand"}\n')
    out = run("validate", "--strict", str(warned))
    assert run.code == 0
    assert out.endswith("valid (1 acknowledged)\n")


def test_plan(run: Runner) -> None:
    out = run("plan", "specs/tiered-cache.yaml")
    assert run.code == 0
    for text in (
        "72.7 B parameters, 135.4 GiB of weights; 320.0 KiB of KV a token",
        "What fits where",
        "OPTION_KV_TRANSFER_CONFIG=",
        "ml.p4de.24xlarge for endpoint usage: 2 steady, 2 scaled out, 4 during an update",
        "$63.13 an hour, $46,083.59 a month",
        "WS045",
    ):
        assert text in out
    assert "\x1b[" not in out  # no colours in a pipe


def test_plan_bars_are_the_numbers(run: Runner) -> None:
    """The bar of a GPU of the 72B model at degree 8: 16.9 of 80 GiB are weights, so a fifth of the bar is #."""
    bar = next(line for line in run("plan", "specs/tiered-cache.yaml").splitlines() if "each GPU" in line)
    inside = bar[bar.index("[") + 1 : bar.index("]")]
    assert len(inside) == 48
    assert inside.count("#") == round(16.92 / 80 * 48)
    assert inside.count("=") == round(52.6 / 80 * 48)


def test_plan_for_scripts(run: Runner) -> None:
    document = json.loads(run("plan", "--json", "specs/rag-prefix-aware.yaml"))
    assert document["stack_name"] == "rag-prod"
    assert document["endpoint"]["routing"] == {
        "strategy": "PREFIX_AWARE",
        "prefix_length": 4096,
        "concurrency_threshold": 32,
    }


def test_plan_of_what_cannot_be_planned(run: Runner, broken: Path, tmp_path: Path) -> None:
    out = run("plan", str(broken))
    assert run.code == 1
    assert "cannot be planned" in out
    document = json.loads(run("plan", "--json", str(broken)))
    assert document["version"] == 1
    assert document["diagnostics"][0]["severity"] == "error"
    unknown = write(tmp_path / "u.yaml", "name: a\nmodel: {id: acme/none}\nendpoint: {instance_type: ml.g5.xlarge}\n")
    out = run("plan", str(unknown))
    assert run.code == 1
    assert "WS002" in out
    too_large = "name: a\nmodel: {id: Qwen/Qwen2.5-72B-Instruct}\nendpoint: {instance_type: ml.g5.xlarge}\n"
    out = run("plan", str(write(tmp_path / "l.yaml", too_large)))
    assert run.code == 1
    assert "What fits where" in out  # the page is shown with its errors: that is how one sees what would fit
    assert "error WS020" in out


def test_plan_indents_what_it_wraps(run: Runner) -> None:
    cost = run("plan", "specs/rag-prefix-aware.yaml").partition("\nCost")[2].partition("\nFindings")[0]
    price = cost[cost.index("  price: ") :].rstrip("\n").splitlines()
    assert len(price) > 1
    assert [line for line in price if not line.startswith("  ") or line != line.rstrip() or len(line) > 120] == []


def test_plan_without_a_price(run: Runner, tmp_path: Path) -> None:
    spec = "name: a\nmodel: {id: Qwen/Qwen3-32B}\nendpoint: {instance_type: ml.p5e.48xlarge}\n"
    out = run("plan", str(write(tmp_path / "p.yaml", spec)))
    assert "not known: the catalog has no price" in out


def test_schema(run: Runner) -> None:
    assert json.loads(run("schema"))["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_explain(run: Runner) -> None:
    out = run("explain", "ws051")
    assert run.code == 0
    assert out.startswith("WS051 (warning): PREFIX_AWARE does nothing until two instances")
    assert 'acknowledge: {WS051: "why it is fine here"}' in out
    assert "acknowledge" not in run("explain", "WS020").split("Source")[1]
    assert json.loads(run("explain", "WS020", "--json"))["severity"] == "error"
    assert "WS102" in run("explain")
    assert len(json.loads(run("explain", "--json"))) > 50
    run("explain", "WS999")
    assert run.code == 1
    assert run.err == "warmstack: 'WS999' is no check; `warmstack explain` lists them\n"


@pytest.mark.parametrize("written", ["WS51", "ws-051", "51"])
def test_explain_knows_a_check_by_its_number(run: Runner, written: str) -> None:
    run("explain", written)
    assert run.code == 1
    assert run.err.startswith(f"warmstack: {written!r} is no check; did you mean WS051?")


def test_catalog(run: Runner) -> None:
    instances = json.loads(run("catalog", "instances", "--json"))
    assert len(instances) == 39
    assert all(one["price_basis"] for one in instances)
    models = {one["id"]: one for one in json.loads(run("catalog", "models", "--json"))}
    qwen = models["Qwen/Qwen2.5-7B-Instruct"]
    assert (qwen["parameter_count"], qwen["kv_bytes_per_token"]) == (7_615_616_512, 57_344)
    unknown = models["deepseek-ai/DeepSeek-V4-Pro"]
    assert (unknown["parameter_count"], unknown["complete"]) == (None, False)
    images = json.loads(run("catalog", "images", "--json"))
    assert {"lmi", "vllm", "sglang"} == {one["server"] for one in images}
    flags = json.loads(run("catalog", "flags", "vllm", "--json"))
    assert "max_num_seqs" in {one["name"] for one in flags["flags"]}
    for words in (("instances",), ("images",), ("models",), ("flags", "lmi")):
        out = run("catalog", *words)
        assert run.code == 0
        assert len(out.splitlines()) > 20
    assert "ml.p4de.24xlarge" in run("catalog", "instances")
    assert "not known" in run("catalog", "models")


@pytest.mark.parametrize("words", [["validate"], ["plan"], ["nonsense"], ["validate", "--format", "xml", "a.yaml"]])
def test_usage_is_exit_code_two(run: Runner, words: list[str]) -> None:
    run(*words)
    assert run.code == 2


def test_version(run: Runner) -> None:
    assert run("--version").startswith("warmstack 0.")


def test_findings_say_the_way_out(run: Runner, tmp_path: Path) -> None:
    spec = write(
        tmp_path / "sessions.yaml",
        "name: a\nmodel: {id: Qwen/Qwen3-8B}\nengine: {server: sglang, version: 0.5.20}\n"
        "endpoint: {instance_type: ml.g6e.xlarge, instances: {min: 2}, sessions: {ttl: 20m}}\n",
    )
    assert "= Build an image, which adds a session server" in run("validate", str(spec))


def test_a_long_line_with_many_mistakes_is_not_read_again_for_each(run: Runner, tmp_path: Path) -> None:
    """The message of one mistake shows a piece of the line; escaping the whole line each time was quadratic."""
    tags = ", ".join(f'"k;{index}": v' for index in range(3000))
    text = f"name: a\nmodel: {{id: x}}\nendpoint: {{instance_type: ml.g5.xlarge}}\ntags: {{{tags}}}\n"
    out = run("validate", str(write(tmp_path / "long.yaml", text)))
    assert out.count("error:") == 3000
    assert max(len(line) for line in out.splitlines()) < 300


def test_plan_says_by_how_much_the_ram_is_over(run: Runner, tmp_path: Path) -> None:
    """14.2 GiB of weights, 1.6 for the system and 4 for the worker on 16 GiB."""
    spec = write(
        tmp_path / "over.yaml",
        "name: a\nmodel: {id: Qwen/Qwen2.5-7B-Instruct, weights: {s3: s3://acme/q/}, max_model_len: 8192}\n"
        "engine: {version: 0.38.0-lmi29.0.0-cu130}\nendpoint: {instance_type: ml.g5.xlarge}\n",
    )
    lines = run("plan", str(spec)).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("  RAM"))
    assert lines[at + 1].endswith("over by 3.8 GiB")
    assert " " not in lines[at][lines[at].index("[") : lines[at].index("]")]
    gpu = next(line for line in run("plan", "specs/two-models.yaml").splitlines() if "each GPU" in line)
    assert " ]" not in gpu


def test_catalog_says_how_prices_are_known(run: Runner) -> None:
    out = run("catalog", "instances")
    assert re.search(r"ml\.p5en\.48xlarge .* 72\.79  \[2\] 2026", out)
    assert "\n[2] derived from the EC2 on-demand price" in out
