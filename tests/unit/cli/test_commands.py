"""The commands, as a user or a script runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from warmstack.cli.app import app

GOOD = "sticky-chat.yaml"


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(root)
    return Runner()


class Runner:
    """Runs the app in this process; ``code`` and ``out`` are the last run's."""

    def __call__(self, *words: str) -> str:
        result = CliRunner().invoke(app, list(words), catch_exceptions=False)
        self.code = result.exit_code
        self.err = result.stderr
        return result.stdout


def process(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from warmstack.cli import main; main()", *words],
        cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    """A spec with one warning: no engine.version."""
    return write(
        tmp_path / "warned.yaml",
        "name: chat\nmodel: {id: Qwen/Qwen2.5-7B-Instruct, weights: {s3: s3://acme/q/}}\n"
        "endpoint: {instance_type: ml.g5.12xlarge}\n",
    )


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A spec with a misspelt key."""
    return write(tmp_path / "broken.yaml", "name: chat\nmodle: {id: x}\nendpoint: {instance_type: ml.g5.12xlarge}\n")


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
    assert "is no check" in run.err


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


def test_init(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("init", "my-chat", "--server", "vllm", "--model", "Qwen/Qwen3-8B", "--instance-type", "ml.g6e.2xlarge")
    out = run(*words)
    assert run.code == 0
    assert "specs/my-chat.yaml: written; the endpoint will be my-chat-dev" in out
    text = (tmp_path / "specs" / "my-chat.yaml").read_text(encoding="utf-8")
    assert "version: 0.30.0\n" in text
    assert text.startswith("# yaml-language-server: $schema=../schemas/deployment.schema.json\n")
    run("validate", "--strict", "specs/my-chat.yaml")
    assert run.code == 0
    run(*words)
    assert run.code == 1
    assert "exists; --force replaces it" in run.err
    run(*words, "--force")
    assert run.code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["My_Chat"], "NAME is 'My_Chat'"),
        (["../evil"], "NAME is '../evil'"),
        (["a", "--folder", "x\nname: evil"], "--folder is"),
        (["a", "--model", "x: {y}\nz: 1"], "--model is"),
        (["a", "--instance-type", "ml.g5.12xlarge\nx: 1"], "--instance-type is"),
    ],
)
def test_init_writes_no_word_that_could_be_more(run: Runner, words: list[str], says: str, tmp_path: Path) -> None:
    run("init", "--folder", str(tmp_path), *words)
    assert run.code == 1
    assert says in run.err
    assert list(tmp_path.iterdir()) == []


def test_init_with_an_unknown_instance_type_writes_nothing(tmp_path: Path) -> None:
    done = process("init", "chat", "--instance-type", "ml.g5.13xlarge", cwd=tmp_path)
    assert done.returncode == 1
    assert "ml.g5.12xlarge" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_init_of_a_model_that_needs_work_says_so(run: Runner, tmp_path: Path) -> None:
    out = run("init", "big", "--model", "Qwen/Qwen2.5-72B-Instruct", "--folder", str(tmp_path))
    assert run.code == 1
    assert "WS020" in out
    assert "written, but not valid yet; edit it, or init again with --force" in out
    assert (tmp_path / "big.yaml").exists()


def test_init_into_a_folder_that_cannot_be(run: Runner, tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    done = process("init", "chat", "--folder", str(tmp_path / "file"), cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be made: File exists" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["validate"], ["plan"], ["nonsense"], ["validate", "--format", "xml", "a.yaml"]])
def test_usage_is_exit_code_two(run: Runner, words: list[str]) -> None:
    run(*words)
    assert run.code == 2


def test_version(run: Runner) -> None:
    assert run("--version").startswith("warmstack 0.")


def test_no_traceback_reaches_a_user(root: Path) -> None:
    lines = (
        "import warmstack.cli.validate as validate",
        "def boom(*words, **options): raise RuntimeError('boom')",
        "validate.validate_specs = boom",
        "from warmstack.cli import main",
        "main()",
    )
    code = "\n".join(lines)
    words = [sys.executable, "-c", code, "validate", "specs/sticky-chat.yaml"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "internal error: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr
    shown = subprocess.run(
        words, cwd=root, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "WARMSTACK_TRACEBACK": "1"},
    )  # fmt: skip
    assert "Traceback" in shown.stderr


def test_a_closed_pipe_ends_quietly(root: Path) -> None:
    command = f'"{sys.executable}" -c "from warmstack.cli import main; main()" catalog models --json | head -c 10'
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_odd_encodings_of_the_terminal(root: Path, broken: Path) -> None:
    """A terminal without UTF-8 gets escapes, not a failure."""
    write(broken, broken.read_text(encoding="utf-8") + "tags: {ключ: значение}\n")
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for words in (["validate", str(broken)], ["plan", "specs/two-models.yaml"], ["catalog", "instances"]):
        done = process(*words, cwd=root, env=env)
        assert "internal error" not in done.stderr, words
        assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written(root: Path) -> None:
    for redirect, code in ((">/dev/full", 1), (">&-", 0)):
        for words in ("validate specs/sticky-chat.yaml", "plan --json specs/sticky-chat.yaml", "schema"):
            command = f'"{sys.executable}" -c "from warmstack.cli import main; main()" {words} {redirect}'
            done = subprocess.run(
                ["bash", "-c", command], cwd=root, capture_output=True, text=True, check=False, timeout=60
            )
            assert done.returncode == code, (command, done.stderr)
            assert "internal error" not in done.stderr
            assert "Traceback" not in done.stderr
            assert code == 0 or "cannot be written: No space left on device" in done.stderr


def test_names_and_values_cannot_drive_the_terminal_or_forge_lines(run: Runner, tmp_path: Path) -> None:
    evil = write(
        tmp_path / "e\x1b[31mred\nname.yaml",
        'name: a\n"b\\nspecs/x.yaml:1:1: error: forged": 1\nmodel: {id: Qwen/Qwen3-8B}\n'
        "endpoint: {instance_type: ml.g5.xlarge}\n",
    )
    for form in ("text", "github"):
        out = run("validate", "--format", form, str(evil))
        assert run.code == 1
        assert "\x1b" not in out
        assert not [line for line in out.splitlines() if line.startswith(("name.yaml", "specs/x.yaml"))]
    colour = write(
        tmp_path / "colour.yaml",
        "name: a\nmodel: {id: Qwen/Qwen2.5-7B-Instruct, weights: {s3: s3://acme/q/}}\n"
        'engine: {options: {chat_template: "\\e[31mX"}}\nendpoint: {instance_type: ml.g5.12xlarge}\n',
    )
    assert "\x1b" not in run("plan", str(colour))


def test_a_token_in_the_wrong_place_is_not_repeated(run: Runner, tmp_path: Path) -> None:
    spec = write(
        tmp_path / "token.yaml",
        "name: a\nmodel: {id: 5, weights: {hub: {token_secret: hf_abcdef123}}}\n"
        "endpoint: {instance_type: ml.g5.xlarge}\n",
    )
    for form in ("text", "json", "github"):
        out = run("validate", "--format", form, str(spec))
        assert run.code == 1
        assert "token_secret must be the ARN of a Secrets Manager secret" in out
        assert "hf_abcdef123" not in out


def test_findings_say_the_way_out(run: Runner, tmp_path: Path) -> None:
    spec = write(
        tmp_path / "sessions.yaml",
        "name: a\nmodel: {id: Qwen/Qwen3-8B}\nengine: {server: sglang, version: 0.5.20}\n"
        "endpoint: {instance_type: ml.g6e.xlarge, instances: {min: 2}, sessions: {ttl: 20m}}\n",
    )
    assert "= Use the lmi or vllm server, or PREFIX_AWARE without sessions." in run("validate", str(spec))


def test_a_long_line_with_many_mistakes_is_not_read_again_for_each(run: Runner, tmp_path: Path) -> None:
    """The message of one mistake shows a piece of the line; escaping the whole line each time was quadratic."""
    tags = ", ".join(f'"k;{index}": v' for index in range(3000))
    text = f"name: a\nmodel: {{id: x}}\nendpoint: {{instance_type: ml.g5.xlarge}}\ntags: {{{tags}}}\n"
    out = run("validate", str(write(tmp_path / "long.yaml", text)))
    assert out.count("error:") == 3000
    assert max(len(line) for line in out.splitlines()) < 300


def test_init_points_at_the_schema_of_the_clone(run: Runner, tmp_path: Path) -> None:
    run("init", "away", "--folder", str(tmp_path / "specs" / "team"))
    first = (tmp_path / "specs" / "team" / "away.yaml").read_text(encoding="utf-8").splitlines()[0]
    schema = Path(first.partition("$schema=")[2])
    assert (tmp_path / "specs" / "team" / schema).resolve() == (Path.cwd() / "schemas/deployment.schema.json").resolve()


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


@pytest.mark.parametrize(
    "line",
    [
        "engine: {options: {hf_token: hf_abcdefghij123456}}",
        "engine: {options: {api_key: hunter2hunter2}}",
        "env: {HF_TOKEN: hf_abcdefghij123456}",
        "hub_token: hunter2hunter2",
        "model: {id: x, weights: {hub: hf_abcdefghij123456}}",
        "model: {id: hf_abcdefghij123456}",
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_secrets_are_not_repeated(run: Runner, tmp_path: Path, line: str, form: str) -> None:
    """Wherever people put a token, messages and the lines under them do not carry it into a log."""
    model = "" if line.startswith("model") else "model: {id: Qwen/Qwen3-8B, weights: {s3: s3://acme/q/}}\n"
    text = f"name: a\n{model}{line}\nendpoint: {{instance_type: ml.g6e.xlarge}}\n"
    out = run("validate", "--format", form, str(write(tmp_path / "s.yaml", text)))
    assert run.code == 1
    assert "hf_abcdefghij" not in out
    assert "hunter2" not in out
