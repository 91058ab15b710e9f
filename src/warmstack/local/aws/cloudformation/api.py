"""CloudFormation's API as ASGI: a form in, XML out."""

from __future__ import annotations

import traceback
import uuid
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from warmstack.local.api.replies import read_request
from warmstack.local.aws.cloudformation.change_set_operations import ChangeSetOperations
from warmstack.local.aws.cloudformation.desk import Desk, Operation
from warmstack.local.aws.cloudformation.query import read_form, read_members
from warmstack.local.aws.cloudformation.reading import Reading
from warmstack.local.aws.cloudformation.stack_operations import StackOperations
from warmstack.local.aws.cloudformation.understood import check_understood
from warmstack.local.aws.cloudformation.xml import write_answer, write_error
from warmstack.local.aws.errors import StackError
from warmstack.local.own_session import service_model
from warmstack.local.wire.errors import ApiError

LARGEST_REQUEST_BYTES = 4 << 20
"""A template in a request is at most 51,200 bytes, which a form may write as three times as many."""
MEDIA_TYPE = "text/xml"


class CloudFormationApi:
    """Answers CloudFormation's operations.

    Args:
        desk: What the operations work with.
    """

    def __init__(self, desk: Desk) -> None:
        self._operations: Mapping[str, Operation] = {
            **StackOperations(desk).operations,
            **ChangeSetOperations(desk).operations,
            **Reading(desk).operations,
        }

    async def answer(self, scope: Scope, receive: Receive, send: Send, *, region: str) -> None:
        """Answer a request that is signed for a Region."""
        request_id = str(uuid.uuid4())
        try:
            body, status = await self._answered(Request(scope, receive), region, request_id), 200
        except StackError as error:
            body, status = write_error(error, namespace=_namespace(), request_id=request_id), error.status
        except ApiError as error:
            refused = StackError(error.kind, error.message, error.status)
            body, status = write_error(refused, namespace=_namespace(), request_id=request_id), error.status
        except Exception as error:
            # A defect: its place is in the log, and the client is told so instead of waiting.
            traceback.print_exception(error)
            failure = StackError("InternalFailure", f"the local AWS failed: {type(error).__name__}: {error}", 500)
            body, status = write_error(failure, namespace=_namespace(), request_id=request_id), 500
        response = Response(body, status, {"x-amzn-RequestId": request_id}, MEDIA_TYPE)
        await response(scope, receive, send)

    async def _answered(self, request: Request, region: str, request_id: str) -> bytes:
        form = read_form(await read_request(request, LARGEST_REQUEST_BYTES))
        name = form.get("Action", "")
        operation = self._operations.get(name)
        if operation is None:
            known = ", ".join(sorted(self._operations))
            raise StackError(
                "InvalidAction",
                f"the local AWS does not serve CloudFormation's {name or 'request without Action'}; it serves {known}",
            )
        model = service_model("cloudformation").operation_model(name)
        asked = read_members(form, model.input_shape)
        check_understood(name, asked)
        answered = await operation(asked, region)
        return write_answer(model, answered, namespace=_namespace(), request_id=request_id)


def _namespace() -> str:
    return str(service_model("cloudformation").metadata["xmlNamespace"])
