"""AWS's services as far as they are asked here, for states that the local endpoint cannot be brought into."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError


def refused(operation: str, code: str, message: str = "no", status: int = 400) -> ClientError:
    """Return an error answer."""
    answer: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, operation)


class Scripted:
    """A boto3 client whose answers are given by the names of its methods.

    Args:
        answers: A value, an error, a function of the members, or a list of these, of which each call takes one and
            the last one stays.
    """

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._answers:
            raise AttributeError(name)
        return lambda **members: self._answer(name, members)

    def get_paginator(self, name: str) -> _Pages:
        return _Pages(lambda members: self._answer(name, members))

    def _answer(self, name: str, members: dict[str, Any]) -> Any:
        self.calls.append((name, members))
        answer = self._answers[name]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(**members)
        if isinstance(answer, Exception):
            raise answer
        return answer


class _Pages:
    def __init__(self, answer: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        self._answer = answer

    def paginate(self, **members: Any) -> Iterator[Mapping[str, Any]]:
        yield self._answer(members)
