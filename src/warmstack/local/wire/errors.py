"""The errors of the runtime API, and the texts that SageMaker gives them.

Sources: the shapes and their statuses are botocore's, 1.44.8; each text was seen in public tests and issues
(collected 2026-11-30). A text that nobody has published is marked *own words*.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from warmstack.errors import WarmstackError

ORIGINAL_MESSAGE_LENGTH = 2048
TIMED_OUT = (
    "Your invocation timed out while waiting for a response from container primary. Review the latency metrics for "
    "each container in Amazon CloudWatch, resolve the issue, and try again."
)
PROCESS_EXITED = "An error occurred while handling request as the model process exited."
STREAM_TIMED_OUT = "Your model primary did not complete sending the inference response in the allotted time."
COMPONENT_HEADER_MISSING = (
    "Inference Component Name header is required for endpoints to which you plan to deploy inference components. "
    "Please include Inference Component Name header or consider using SageMaker models."
)
COMPONENT_HEADER_NOT_ALLOWED = (
    "Inference Component Name header is not allowed for endpoints to which you dont plan to deploy inference "
    "components. Please remove the Inference Component Name header and try again."
)
NO_CAPACITY = (
    "Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if "
    "configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API."
)


class ApiError(WarmstackError):
    """What the API answers instead of a result.

    Args:
        kind: The error's shape, such as ``ValidationError``.
        status: The HTTP status.
        message: The text.
        original_status: The container's own status; 0 if it gave none, None if the error is not the model's.
        original_message: What the container answered.
        log_stream_arn: Where its log would be.
    """

    def __init__(
        self,
        kind: str,
        status: int,
        message: str,
        *,
        original_status: int | None = None,
        original_message: str = "",
        log_stream_arn: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.message = message
        self.original_status = original_status
        self.original_message = original_message
        self.log_stream_arn = log_stream_arn

    def body(self) -> bytes:
        """Return the JSON that the runtime API sends."""
        members: dict[str, object] = {"Message": self.message}
        if self.original_status is not None:
            members |= {
                "OriginalStatusCode": self.original_status,
                "OriginalMessage": self.original_message[:ORIGINAL_MESSAGE_LENGTH],
                "LogStreamArn": self.log_stream_arn,
            }
        return json.dumps(members, ensure_ascii=False).encode()


def validation_error(message: str) -> ApiError:
    """Return a ValidationError, 400."""
    return ApiError("ValidationError", 400, message)


def service_unavailable(message: str) -> ApiError:
    """Return a ServiceUnavailable, 503."""
    return ApiError("ServiceUnavailable", 503, message)


def too_large(limit_bytes: int) -> ApiError:
    """Return the answer to a body above the limit: HTTP 413, whose text boto3 shows with the code "413"."""
    return ApiError("413", 413, f"HTTP content length exceeded {limit_bytes} bytes.")


def gone_away() -> ApiError:
    """Return what the journal keeps of a client that left before its request had come: nobody gets to see it."""
    return ApiError("499", 499, "the client went away before its request had come")


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What the texts say of an endpoint.

    Args:
        endpoint: Its name.
        account: The account's number.
        region: The region.
    """

    endpoint: str
    account: str
    region: str

    def not_found(self) -> ApiError:
        """Return the answer for an endpoint that does not exist."""
        return validation_error(f"Endpoint {self.endpoint} of account {self.account} not found.")

    def component_not_found(self, name: str) -> ApiError:
        """Return the answer for a component that the endpoint does not have (own words)."""
        return validation_error(f"Inference Component {name} of account {self.account} not found.")

    def model_error(self, status: int, answer: bytes, *, whole: bool = True) -> ApiError:
        """Return the answer for a container that answered with an error.

        Args:
            status: The container's status; 0 for none.
            answer: Its body.
            whole: Whether the body came to its end.
        """
        text = answer.decode("utf-8", "replace")
        side = "client" if 400 <= status < 500 else "server"
        shown = f'message "{text}"' if whole else f'message "{text}" and could not load the entire response body'
        return ApiError(
            "ModelError",
            424,
            f"Received {side} error ({status}) from primary with {shown}. See {self._log_url()} in account "
            f"{self.account} for more information.",
            original_status=status,
            original_message=text,
            log_stream_arn=self.log_arn(),
        )

    def process_error(self, text: str) -> ApiError:
        """Return the answer for a container that gave none: `TIMED_OUT` or `PROCESS_EXITED`."""
        message = f'Received server error (0) from primary with message "{text}"'
        return ApiError(
            "ModelError", 424, message, original_status=0, original_message=text, log_stream_arn=self.log_arn()
        )

    def log_arn(self) -> str:
        """Return the ARN of the endpoint's log group."""
        return f"arn:aws:logs:{self.region}:{self.account}:log-group:/aws/sagemaker/Endpoints/{self.endpoint}"

    def _log_url(self) -> str:
        return (
            f"https://{self.region}.console.aws.amazon.com/cloudwatch/home?region={self.region}"
            f"#logEventViewer:group=/aws/sagemaker/Endpoints/{self.endpoint}"
        )
