"""The client: chats, completions, streams and sessions against a deployed or a local endpoint.

::

    messages ──requests──▶ body ──payload.canonical──▶ bytes ──transport──▶ SageMaker
                                                                   │
    Response, events ◀──responses, stream_parser── bytes ◀─────────┤
    EndpointError    ◀──mapping────────────────── failure ◀────────┘

    Session = transcript + session_life: which session a turn goes into, when to open another one, what to send again

Only ``transport``, ``connections``, ``token`` and ``openai_path`` do I/O; the rest is decisions over values, to be
shared with an asynchronous client.
"""

from warmstack.client.answer import CallInfo, Response, ToolCall
from warmstack.client.connections import Connection, Surroundings, connect
from warmstack.client.endpoint import EndpointClient
from warmstack.client.events import Finish, ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta, Usage
from warmstack.client.failures import (
    AccessDenied,
    AnswerMalformed,
    ComponentNotAllowed,
    ComponentNotFound,
    ComponentRequired,
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    EndpointError,
    EndpointNotFound,
    InvalidArgument,
    ModelBusy,
    ModelExited,
    ModelFailed,
    ModelNotReady,
    ModelRefused,
    ModelTimedOut,
    NoCapacity,
    NotConfigured,
    NotConnected,
    NotReady,
    NotSent,
    PayloadTooLarge,
    ReadTimedOut,
    RequestRefused,
    ServiceFailed,
    ServiceUnavailable,
    SessionBusy,
    SessionClosed,
    SessionLost,
    SessionsNotEnabled,
    StreamInterrupted,
    Throttled,
)
from warmstack.client.responses import read_response
from warmstack.client.retries import NO_RETRIES, RetryPolicy
from warmstack.client.sending import Target
from warmstack.client.session import Session, SessionStats
from warmstack.client.stream_parser import StreamParser
from warmstack.client.streaming import Stream
from warmstack.client.timeouts import Timeouts
from warmstack.client.transcript import Transcript
from warmstack.client.transport import Answer, Call, Parts, Transport

__all__ = [
    "NO_RETRIES",
    "AccessDenied",
    "Answer",
    "AnswerMalformed",
    "Call",
    "CallInfo",
    "ComponentNotAllowed",
    "ComponentNotFound",
    "ComponentRequired",
    "Connection",
    "ConnectionFailed",
    "ConnectionLost",
    "DeadlineExceeded",
    "EndpointClient",
    "EndpointError",
    "EndpointNotFound",
    "Finish",
    "InvalidArgument",
    "ModelBusy",
    "ModelExited",
    "ModelFailed",
    "ModelNotReady",
    "ModelRefused",
    "ModelTimedOut",
    "NoCapacity",
    "NotConfigured",
    "NotConnected",
    "NotReady",
    "NotSent",
    "Parts",
    "PayloadTooLarge",
    "ReadTimedOut",
    "ReasoningDelta",
    "RequestRefused",
    "Response",
    "RetryPolicy",
    "ServiceFailed",
    "ServiceUnavailable",
    "Session",
    "SessionBusy",
    "SessionClosed",
    "SessionLost",
    "SessionStats",
    "SessionsNotEnabled",
    "Stream",
    "StreamEvent",
    "StreamInterrupted",
    "StreamParser",
    "Surroundings",
    "Target",
    "TextDelta",
    "Throttled",
    "Timeouts",
    "ToolCall",
    "ToolCallDelta",
    "Transcript",
    "Transport",
    "Usage",
    "connect",
    "read_response",
]
