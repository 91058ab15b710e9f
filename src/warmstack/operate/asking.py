"""Asking AWS: each call names the permission that it takes, and what goes wrong becomes one kind of error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from warmstack.client.mapping import RAISED_BY_AWS_CLIENT
from warmstack.operate.errors import OperateError
from warmstack.operate.results import Check, Result

Kind = Literal["denied", "missing", "elsewhere", "unknown", "credentials", "network", "foreign", "other"]
SHOWN_CHARACTERS = 300

_DENIED = frozenset(
    {"403", "AccessDenied", "AccessDeniedException", "AuthorizationError", "Forbidden", "UnauthorizedOperation"}
)
_MISSING = frozenset(
    {
        "404",
        "ImageNotFoundException",
        "NoSuchBucket",
        "NoSuchKey",
        "NoSuchResourceException",
        "NotFound",
        "RepositoryNotFoundException",
        "ResourceNotFound",
        "ResourceNotFoundException",
    }
)
_ELSEWHERE = frozenset({"301", "307", "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"})
_UNKNOWN = frozenset({"UnknownOperation", "UnknownOperationException"})
_CREDENTIALS = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_SERVICES = {
    "cloudformation": "CloudFormation",
    "ecr": "ECR",
    "s3": "S3",
    "sagemaker": "SageMaker",
    "secretsmanager": "Secrets Manager",
    "servicequotas": "Service Quotas",
    "sts": "STS",
}
# botocore's class for an answer that is not of the service's form.
_UNREADABLE = "ResponseParserError"
# Texts of a ValidationException or ValidationError, which SageMaker and CloudFormation use for what is not there.
_NOT_THERE = re.compile(r"could not find|does not exist|not found", re.IGNORECASE)
# Classes of botocore's that end so are about credentials; a class more or less is told in its own words.
_ABOUT_CREDENTIALS = re.compile(r"Credential|Token|SSO|ProfileNotFound|Login")
_HERE = re.compile(r"//(localhost|127\.0\.0\.1|\[::1\])[:/\"]")
_ABOUT_NETWORK = re.compile(r"Connect|Connection|Timeout|HTTPClient|Proxy|SSL|NewConnection")


class RefusedError(OperateError):
    """AWS did not answer a question.

    Args:
        action: The IAM action that the question takes.
        kind: Why there is no answer.
        code: AWS's code, or botocore's class.
        said: AWS's text, on one line.
        headers: Of AWS's answer.
    """

    def __init__(self, action: str, *, kind: Kind, code: str, said: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{action}: {code}: {said}")
        self.action = action
        self.kind = kind
        self.code = code
        self.said = said
        self.headers = headers or {}

    def way_out(self) -> str:
        """Return what makes the question answered."""
        match self.kind:
            case "denied":
                return f"allow {self.action} to whoever runs this"
            case "credentials":
                return "log in again, or choose credentials with --profile or the environment"
            case "network" if _HERE.search(self.said):
                return (
                    "nothing runs at this address: `warmstack local aws up` starts a local AWS there, and "
                    '`eval "$(warmstack local aws env --unset)"` leads to AWS again'
                )
            case "network":
                return "look at the Region, the address, the proxy and the VPC"
            case "foreign":
                return "look at the address that is asked: --endpoint-url, AWS_ENDPOINT_URL, a proxy between"
            case "unknown":
                return "this address does not serve the operation; look on AWS"
            case _:
                return f"look at what AWS said; the question takes {self.action}"


def ask(action: str, call: Callable[..., Any], /, **members: Any) -> Any:
    """Ask one question.

    Args:
        action: The IAM action that it takes.
        call: A method of a boto3 client.
        members: What it is called with.

    Raises:
        RefusedError: There is no answer, or none of this service's.
    """
    with reading(action):
        return call(**members)


def ask_all(action: str, client: Any, operation: str, key: str, /, **members: Any) -> Iterator[Any]:
    """Ask for a list, and yield its entries from every page.

    Args:
        action: The IAM action that it takes.
        client: A boto3 client.
        operation: The operation, as boto3's method is called.
        key: The list's name in each page.
        members: What it is called with.

    Raises:
        RefusedError: There is no answer, or none of this service's.
    """
    for page in ask_pages(action, client, operation, **members):
        with reading(action):
            found = list(page.get(key, ()))
        yield from found


def ask_pages(action: str, client: Any, operation: str, /, **members: Any) -> Iterator[Any]:
    """Ask for a list, and yield its pages.

    Args:
        action: The IAM action that it takes.
        client: A boto3 client.
        operation: The operation, as boto3's method is called.
        members: What it is called with.

    Raises:
        RefusedError: There is no answer, or none of this service's.
    """
    pages = iter(client.get_paginator(operation).paginate(**members))
    while True:
        with reading(action):
            page = next(pages, None)
        if page is None:
            return
        yield page


@contextmanager
def reading(action: str) -> Iterator[None]:
    """Take what goes wrong while an answer is asked for or read for what it says about who answers.

    Args:
        action: The IAM action that the question takes.

    Raises:
        RefusedError: There is no answer, or it holds not what this service's answers hold.
    """
    try:
        yield
    except RAISED_BY_AWS_CLIENT as error:
        raise refusal(action, error) from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        # Guard: botocore takes a page of HTML or a list with status 200 for an answer, or fails with these in it.
        lacks = f"holds no {error.args[0]}" if isinstance(error, KeyError) else "is not of its form"
        raise _foreign(action, f"the answer {lacks}") from error


def refusal(action: str, error: Exception) -> RefusedError:
    """Return why a question was not answered."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, dict) and isinstance(response.get("Error"), dict):
        code, said = str(response["Error"].get("Code") or ""), str(response["Error"].get("Message") or "")
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders") or {}
        return RefusedError(action, kind=_kind(code, said), code=code, said=_line(said), headers=dict(headers))
    name = type(error).__name__
    if name == _UNREADABLE:
        return _foreign(action, _line(str(error)))
    kind: Kind = "other"
    if _ABOUT_CREDENTIALS.search(name):
        kind = "credentials"
    elif _ABOUT_NETWORK.search(name) or isinstance(error, OSError):
        kind = "network"
    return RefusedError(action, kind=kind, code=name, said=_line(str(error)))


def not_seen(check: Check, subject: str, refused: RefusedError) -> Result:
    """Return that a check could not be made, and why.

    What the credentials may not see, and what the address does not serve, is ``unseen``. Everything else is a failure:
    who asks whether all is well must not be told so because AWS did not answer.
    """
    seen = f"could not be seen: {refused.action} answered {refused.code}: {refused.said}"
    tell = check.unseen if refused.kind in ("denied", "unknown") else check.failed
    return tell(subject, seen, fix=refused.way_out())


def _foreign(action: str, why: str) -> RefusedError:
    service = _SERVICES.get(action.partition(":")[0], "AWS")
    said = f"what answers at this address is not {service}: {why}"
    return RefusedError(action, kind="foreign", code="ForeignAnswer", said=said)


def _kind(code: str, said: str) -> Kind:
    if code.removeprefix("Client.") in _DENIED or code.startswith("AccessDenied"):
        return "denied"
    if code in _MISSING:
        return "missing"
    if code.startswith("Validation") and _NOT_THERE.search(said):
        return "missing"
    if code in _ELSEWHERE:
        return "elsewhere"
    if code in _UNKNOWN:
        return "unknown"
    return "credentials" if code in _CREDENTIALS else "other"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"
