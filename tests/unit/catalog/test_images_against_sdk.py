"""The image table against its source: the installed SageMaker SDK's files, and the SDK's own answers."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
import subprocess
import sys

import refresh_images
from warmstack.catalog import image_uri, load_catalog

REFRESH = "run scripts/refresh_images.py after a change of sagemaker-core"
ASK = """
import json, sys
from sagemaker.core import image_uris
answers = []
for framework, version, region in json.loads(sys.argv[1]):
    extra = {} if framework == "djl-lmi" else {"instance_type": "ml.g6e.12xlarge", "image_scope": "inference"}
    answers.append(image_uris.retrieve(framework, region, version=version, **extra))
print("ANSWERS" + json.dumps(answers))
"""


def _checked_in() -> str:
    data = importlib.resources.files("warmstack.catalog") / "data" / "images.json"
    return data.read_text(encoding="utf-8")


def test_the_checked_in_file_is_what_the_script_makes_of_the_installed_sdk() -> None:
    document = refresh_images.build_document(
        refresh_images.configuration_folder(),
        sdk_version=importlib.metadata.version("sagemaker-core"),
        as_of=json.loads(_checked_in())["as_of"],
    )
    assert refresh_images.render(document) == _checked_in(), REFRESH


def test_addresses_are_those_that_the_sdk_answers() -> None:
    catalog = load_catalog()
    cases = [
        ("djl-lmi", "0.38.0", "lmi", None),
        ("vllm", "0.30.0", "vllm", None),
        ("vllm-server", "2.6", "vllm", "server-v2.6"),
        ("sglang", "0.5.20", "sglang", None),
        ("sglang-server", "1.4", "sglang", "server-v1.4"),
    ]
    regions = ["us-west-2", "eu-south-2"]
    # Only LMI is published outside the commercial partition.
    elsewhere = ["cn-north-1", "us-gov-west-1", "eusc-de-east-1", "us-iso-east-1", "us-isob-east-1"]
    elsewhere += ["us-isof-east-1", "us-isof-south-1", "eu-isoe-west-1"]
    asked = [(*case, region) for case in cases for region in regions]
    asked += [(*cases[0], region) for region in elsewhere]

    questions = json.dumps([[framework, version, region] for framework, version, _, _, region in asked])
    # Importing the SDK takes seconds and raises warnings of its own: one process for all, apart from ours.
    done = subprocess.run(
        [sys.executable, "-c", ASK, questions], capture_output=True, text=True, check=False, timeout=300
    )

    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout.rsplit("ANSWERS", 1)[1])
    ours = [image_uri(catalog.image(server, version), region) for _, _, server, version, region in asked]
    assert ours == answers
