"""The small model, models of the user's, and small adapters."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from warmstack.adapters import read_folder
from warmstack.local.engines.environment import EngineEnvironment
from warmstack.local.engines.models import LocalModel, read_model, tiny_model
from warmstack.local.engines.tiny_adapter import make_adapter
from warmstack.local.errors import LocalError

CONFIG = {
    "max_position_embeddings": 4096,
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def engine(folder: Path, script: str) -> EngineEnvironment:
    """Return an environment whose Python runs a script, whatever program it is given."""
    environment = EngineEnvironment(folder=folder)
    environment.python.parent.mkdir(parents=True)
    (folder / "script.py").write_text(script, encoding="utf-8")
    environment.python.write_text(
        f'#!/bin/sh\nshift\nexec "{sys.executable}" "{folder}/script.py" "$@"\n', encoding="utf-8"
    )
    environment.python.chmod(0o755)
    return environment


def test_the_small_model_is_made_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        f"folder = Path(sys.argv[1]); (folder / 'config.json').write_text({json.dumps(CONFIG)!r})\n"
        f"log = Path({str(tmp_path)!r}, 'runs'); log.open('a').write('x')"
    )
    made_by, outer, said = engine(tmp_path / "engine", script), {"XDG_CACHE_HOME": str(tmp_path)}, list[str]()
    model = tiny_model(made_by, report=said.append, outer=outer)
    assert tiny_model(made_by, report=said.append, outer=outer) == model
    assert model.folder.parent == tmp_path / "warmstack"
    assert said == ["a small random model is made, once"]
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "x"
    assert [path.name for path in model.folder.parent.iterdir()] == [model.folder.name]


def test_a_model_that_was_not_made_is_not_there(tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1] + '/config.json', 'w').close(); sys.exit('no transformers')"
    with pytest.raises(LocalError, match=r"was not made \(status 1\)\nno transformers\nInstall the engine anew"):
        tiny_model(engine(tmp_path / "engine", script), outer={"XDG_CACHE_HOME": str(tmp_path)})
    assert list((tmp_path / "warmstack").iterdir()) == []
    with pytest.raises(LocalError, match=r"bin/python did not make the small model: No such file"):
        tiny_model(EngineEnvironment(folder=tmp_path), outer={"XDG_CACHE_HOME": str(tmp_path)})
    (tmp_path / "file").touch()
    with pytest.raises(LocalError, match="cannot be made: Not a directory; name another place in XDG_CACHE_HOME"):
        tiny_model(EngineEnvironment(folder=tmp_path), outer={"XDG_CACHE_HOME": str(tmp_path / "file")})


@pytest.mark.parametrize("form", ["plain", "nested", "no key heads", "head size"])
def test_shapes_of_a_model_of_ones_own(tmp_path: Path, form: str) -> None:
    config = dict(CONFIG)
    if form == "no key heads":
        del config["num_key_value_heads"]
    if form == "head size":
        config["head_dim"] = 32
    document = {"text_config": config} if form == "nested" else config
    (tmp_path / "config.json").write_text(json.dumps(document), encoding="utf-8")
    head_size = 32 if form == "head size" else 16
    heads = 4 if form == "no key heads" else 2
    assert read_model(tmp_path) == LocalModel(
        folder=tmp_path,
        longest_tokens=4096,
        layers=2,
        hidden_size=64,
        query_size=4 * head_size,
        key_value_size=heads * head_size,
    )
    assert read_model(tmp_path).kv_bytes_per_token == 2 * 2 * heads * head_size * 4


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"num_attention_heads": 0, "hidden_size": 1}', '{"num_attention_heads": "x"}']
)
def test_a_config_without_a_shape(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(
        LocalError, match=r"config.json does not say the model's shape \(.*\); name a decoder-only model"
    ):
        read_model(tmp_path)


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=r"config.json: No such file or directory; name the folder of a model"):
        read_model(tmp_path)


def test_adapters_fit_the_model_and_differ_by_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    model = read_model(tmp_path)
    folders = [make_adapter(tmp_path / str(n), name=name, model=model) for n, name in enumerate(("a", "b", "a"))]
    weights = [(folder / "adapter_model.safetensors").read_bytes() for folder in folders]
    assert weights[0] == weights[2] != weights[1]
    size = int.from_bytes(weights[0][:8], "little")
    header = json.loads(weights[0][8 : 8 + size])
    assert header.pop("__metadata__") == {"format": "pt"}
    assert {name.rpartition("layers.")[2]: row["shape"] for name, row in header.items() if ".1." in name} == {
        "1.self_attn.q_proj.lora_A.weight": [4, 64],
        "1.self_attn.q_proj.lora_B.weight": [64, 4],
        "1.self_attn.v_proj.lora_A.weight": [4, 64],
        "1.self_attn.v_proj.lora_B.weight": [32, 4],
    }
    ends = [row["data_offsets"] for row in header.values()]
    assert [end for _, end in ends] == [*(start for start, _ in ends[1:]), len(weights[0]) - 8 - size]
    assert all(
        end - start == 4 * row["shape"][0] * row["shape"][1]
        for row in header.values()
        for start, end in [row["data_offsets"]]
    )
    config = json.loads((folders[0] / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["r"], config["target_modules"]) == (4, ["q_proj", "v_proj"])
    assert {entry.name for entry in read_folder(folders[0]).entries} >= {"adapter_config.json"}
