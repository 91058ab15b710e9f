"""What the local AWS asks of the rest: SageMaker with copies behind it, and the services that moto answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class SageMaker(Protocol):
    """SageMaker's control plane: models, endpoint configurations, endpoints, inference components."""

    async def call(self, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation, such as ``CreateModel``.

        Args:
            operation: Its name.
            members: Its members, as botocore's model of SageMaker names them.

        Returns:
            The members of the answer. Creations and updates return at once; a description says how they go on.

        Raises:
            ApiError: SageMaker refuses.
        """
        ...


class Aws(Protocol):
    """The services that handlers call to make what is no endpoint."""

    async def call(self, service: str, operation: str, members: Mapping[str, Any], *, region: str) -> Mapping[str, Any]:
        """Call an operation, such as ``iam`` ``CreateRole``.

        Raises:
            RefusedError: The service refuses.
        """
        ...
