"""The AWS event stream, written: the frames of InvokeEndpointWithResponseStream.

A frame is a prelude (total length, length of the headers, CRC-32 of both), headers, a payload and a CRC-32 of all
before it; integers are big-endian. Events and their members: botocore 1.44.8, sagemaker-runtime, ResponseStream.
"""

from __future__ import annotations

import json
import struct
import zlib

_STRING = 7  # the type of a header value
CONTENT_TYPE = "application/vnd.amazon.eventstream"
MODEL_INVOCATION_TIME_EXCEEDED = "ModelInvocationTimeExceeded"
STREAM_BROKEN = "StreamBroken"


def payload_part(data: bytes) -> bytes:
    """Return the frame of one part of the body."""
    return _PART_PREFIX.frame(data)


def model_stream_error(message: str, error_code: str) -> bytes:
    """Return the frame that ends a stream because of the model.

    Args:
        message: What happened, at most 2048 characters on SageMaker; longer ones are cut.
        error_code: ``ModelInvocationTimeExceeded`` or ``StreamBroken``.
    """
    return _exception("ModelStreamError", {"Message": message[:2048], "ErrorCode": error_code})


def _exception(kind: str, members: dict[str, str]) -> bytes:
    headers = _Headers({":message-type": "exception", ":exception-type": kind, ":content-type": "application/json"})
    return headers.frame(json.dumps(members, ensure_ascii=False).encode())


class _Headers:
    """A frame's headers, encoded once.

    Args:
        values: The headers, all of them strings.
    """

    def __init__(self, values: dict[str, str]) -> None:
        self._encoded = b"".join(
            struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _STRING, len(value)) + value.encode()
            for name, value in values.items()
        )

    def frame(self, payload: bytes) -> bytes:
        prelude = struct.pack("!II", 16 + len(self._encoded) + len(payload), len(self._encoded))
        head = prelude + struct.pack("!I", zlib.crc32(prelude)) + self._encoded + payload
        return head + struct.pack("!I", zlib.crc32(head))


_PART_PREFIX = _Headers(
    {":message-type": "event", ":event-type": "PayloadPart", ":content-type": "application/octet-stream"}
)
