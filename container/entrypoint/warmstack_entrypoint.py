"""What images of ours start first: it prepares what an environment cannot carry, then becomes the server.

``warmstack_entrypoint.py COMMAND [ARGUMENT...]``. It reads

* ``WARMSTACK_HUB_TOKEN_SECRET``: the ARN of a Secrets Manager secret; its value becomes ``HF_TOKEN`` of the server;
* ``WARMSTACK_FORMATTERS`` (LMI only): the file with formatters, which LMI finds beside the weights and nowhere else.

The process is replaced by the command, so that signals reach the server and nothing of ours stays behind.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

TOKEN_SECRET = "WARMSTACK_HUB_TOKEN_SECRET"
FORMATTERS = "WARMSTACK_FORMATTERS"
LMI_COMMAND = "dockerd-entrypoint.sh"
MODEL_FOLDER = Path("/opt/ml/model")
LAID_OUT_FOLDER = Path("/tmp/warmstack/model")
CODE_FOLDER = Path(__file__).resolve().parent.parent / "formatters"
# The keys under which people keep a hub token when the secret is a JSON object.
TOKEN_KEYS = ("HF_TOKEN", "hf_token", "HUGGING_FACE_HUB_TOKEN", "token")
# What no token has: it comes from JSON, or from a shell's quotes.
_NO_TOKEN = frozenset(" \"'`[]{}")


class StartError(Exception):
    """The server cannot be started; the message says why and what to do."""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Prepare, then become the command; leave with status 1 and one line when that is not possible."""
    try:
        if not arguments:
            raise StartError("no command to start; the image names it in ENTRYPOINT")
        prepared = prepare(arguments, environment, read_secret)
        try:
            os.execvpe(arguments[0], list(arguments), prepared)
        except OSError as error:
            raise StartError(f"{arguments[0]} cannot be started: {error.strerror}") from error
    except StartError as error:
        print(f"warmstack: {error}", file=sys.stderr, flush=True)
        sys.exit(1)


def prepare(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    secret: Callable[[str], str],
    *,
    model_folder: Path = MODEL_FOLDER,
    laid_out_folder: Path = LAID_OUT_FOLDER,
) -> dict[str, str]:
    """Return the environment of the server.

    Args:
        arguments: the command.
        environment: the container's environment.
        secret: reads a secret by its ARN.
        model_folder: where SageMaker mounts the weights.
        laid_out_folder: where to lay them out together with formatters.

    Raises:
        StartError: something that the environment asks for cannot be had.
    """
    prepared = dict(environment)
    arn = environment.get(TOKEN_SECRET)
    if arn:
        prepared["HF_TOKEN"] = hub_token(secret(arn), arn)
    formatters = environment.get(FORMATTERS)
    if formatters and Path(arguments[0]).name == LMI_COMMAND:
        lay_out(Path(formatters), model_folder, laid_out_folder)
        prepared["SERVING_MODEL_STORE"] = str(laid_out_folder)
    return prepared


def hub_token(value: str, arn: str) -> str:
    """Return the token in a secret's value: the value itself, a JSON text, or one of :data:`TOKEN_KEYS` of an object.

    Raises:
        StartError: there is no token in it. The message never shows the value.
    """
    text = value.strip()
    if text.startswith(("{", '"')):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise StartError(f"the secret {arn} begins like JSON and is none; store the token alone") from None
        found = [document.get(key) for key in TOKEN_KEYS] if isinstance(document, dict) else [document]
        # The first that is not empty: a form with a field for each key leaves the others empty.
        text = next((one.strip() for one in found if isinstance(one, str) and one.strip()), "")
    if not text or not text.isascii() or not text.isprintable() or not _NO_TOKEN.isdisjoint(text):
        names = ", ".join(TOKEN_KEYS)
        raise StartError(
            f"the secret {arn} holds no token: store the token alone, without quotes, or JSON with one of {names}"
        )
    return text


def lay_out(formatters: Path, model_folder: Path, laid_out_folder: Path) -> None:
    """Make a folder with links to the weights, and beside them what LMI looks for: model.py.

    Guard: the mounted folder is read-only, and LMI looks for model.py in the model's folder only.

    Raises:
        StartError: the weights are missing, or bring a model.py of their own.
    """
    code = {
        "formatters.py": formatters,
        "model.py": CODE_FOLDER / "lmi_model.py",
        "warmstack_formatters.py": CODE_FOLDER / "warmstack_formatters.py",
    }
    try:
        weights = sorted(model_folder.iterdir())
    except OSError as error:
        raise StartError(f"{model_folder} cannot be read: {error.strerror}; formatters need weights in S3") from error
    if not weights:
        raise StartError(f"{model_folder} is empty; formatters need weights in S3")
    taken = [path.name for path in weights if path.name in code]
    if taken:
        raise StartError(
            f"{taken[0]} lies beside the weights already; remove it there, or model.formatters in the spec"
        )
    try:
        shutil.rmtree(laid_out_folder, ignore_errors=True)
        laid_out_folder.mkdir(parents=True)
        for path in weights:
            (laid_out_folder / path.name).symlink_to(path)
    except OSError as error:
        raise StartError(f"{laid_out_folder} cannot be made: {error}") from error
    for name, source in code.items():
        try:
            shutil.copyfile(source, laid_out_folder / name)
        except OSError as error:
            where = f" ({FORMATTERS})" if source == formatters else ""
            raise StartError(
                f"{source}{where} cannot be copied to {laid_out_folder}: {error.strerror or error}"
            ) from error


def read_secret(arn: str) -> str:
    """Return the value of a secret.

    Raises:
        StartError: it cannot be read.
    """
    # Late: images without a token secret do not carry it.
    import botocore.session
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    region = arn.split(":")[3] if arn.count(":") >= 6 else ""
    if not region:
        raise StartError(f"{TOKEN_SECRET} is {arn!r}; it must be the ARN of a Secrets Manager secret")
    config = Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 5})
    try:
        client = botocore.session.get_session().create_client("secretsmanager", region_name=region, config=config)
        answer = client.get_secret_value(SecretId=arn)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        raise StartError(
            f"the secret {arn} cannot be read: {code}; the execution role needs secretsmanager:GetSecretValue on it, "
            "and kms:Decrypt on its key if that is one of your own"
        ) from error
    except BotoCoreError as error:
        raise StartError(f"the secret {arn} cannot be read: {error}") from error
    value = answer.get("SecretString")
    if not isinstance(value, str):
        raise StartError(f"the secret {arn} is binary; store the token as text")
    return value


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
