"""One port for all of AWS: which service a request is for, and who answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.datastructures import Headers, QueryParams
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from warmstack.local.aws.cloudformation.api import CloudFormationApi
from warmstack.local.aws.moto_app import not_served
from warmstack.local.aws.sight import PATH

_SCOPE = re.compile(r"Credential=[^/,\s]+/[0-9]{8}/(?P<region>[^/,\s]+)/(?P<service>[^/,\s]+)/aws4_request")
SAGEMAKER = frozenset({"sagemaker"})
"""The name in signatures of SageMaker and of its runtime."""
MOTO = frozenset({"ecr", "iam", "kms", "logs", "s3", "secretsmanager", "servicequotas", "ssm", "sts"})
"""The services of moto that are let through. Others would seem to be there, and know nothing of the stacks."""
_LOCAL_PATHS = re.compile(r"/(_warmstack|endpoints)(/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What a signature says.

    Args:
        service: The service that the request is for; empty for a request that is not signed.
        region: The Region.
    """

    service: str = ""
    region: str = ""


def read_signature(scope: Scope) -> Signed:
    """Return for which service a request is signed, in its headers or in its address."""
    header = Headers(scope=scope).get("authorization", "")
    found = _SCOPE.search(header)
    if found is None and b"X-Amz-Credential" in scope["query_string"]:
        credential = QueryParams(scope["query_string"]).get("X-Amz-Credential", "")
        found = _SCOPE.search(f"Credential={credential}")
    return Signed(service=found["service"], region=found["region"]) if found else Signed()


class Front:
    """Sends each request to who answers it.

    Args:
        cloudformation: Answers CloudFormation.
        sagemaker: Answers SageMaker, its runtime, and what is Warmstack's own.
        others: Answers every other service.
        stacks: Answers what there is to see of stacks.
        region: The Region that SageMaker is in.
    """

    def __init__(
        self, *, cloudformation: CloudFormationApi, sagemaker: ASGIApp, others: ASGIApp, stacks: ASGIApp, region: str
    ) -> None:
        self._cloudformation = cloudformation
        self._sagemaker = sagemaker
        self._others = others
        self._stacks = stacks
        self._region = region

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI calls it."""
        if scope["type"] != "http":
            await self._sagemaker(scope, receive, send)
            return
        signed = read_signature(scope)
        if signed.service == "cloudformation":
            await self._cloudformation.answer(scope, receive, send, region=signed.region)
        elif not signed.service and scope["path"] == PATH:
            await self._stacks(scope, receive, send)
        elif signed.service in SAGEMAKER and signed.region != self._region:
            await _elsewhere(scope, self._region, signed.region)(scope, receive, send)
        elif signed.service in SAGEMAKER or (not signed.service and _is_local(scope)):
            await self._sagemaker(scope, receive, send)
        elif signed.service in MOTO or not signed.service:
            await self._others(scope, receive, send)
        else:
            text = f"the local AWS has no {signed.service}; it has cloudformation, sagemaker, {', '.join(sorted(MOTO))}"
            await not_served(text)(scope, receive, send)


def _elsewhere(scope: Scope, home: str, region: str) -> Response:
    """Return the answer to a request for SageMaker in another Region, in which there is nothing."""
    text = (
        f"SageMaker is in {home} here, and the request is signed for {region}: sign it for {home}, or start the local "
        f"AWS with --region {region}"
    )
    # The runtime's error has a name of its own.
    kind = "ValidationError" if _LOCAL_PATHS.match(scope["path"]) else "ValidationException"
    return JSONResponse({"__type": kind, "message": text, "Message": text}, 400, {"x-amzn-ErrorType": kind})


def _is_local(scope: Scope) -> bool:
    target = Headers(scope=scope).get("x-amz-target", "")
    return target.startswith("SageMaker.") or _LOCAL_PATHS.match(scope["path"]) is not None
