"""What was created and runs nothing by itself: models and endpoint configurations, as their callers described them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warmstack.assembly import Assembly, AssemblyError, read_template
from warmstack.local.wire.errors import ApiError

Members = Mapping[str, Any]


def refused(message: str) -> ApiError:
    """Return a ValidationException, 400."""
    return ApiError("ValidationException", 400, message)


def required_text(members: Members, name: str) -> str:
    """Return a member that is a text.

    Raises:
        ApiError: It is missing, empty or something else.
    """
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise refused(f"{name} is missing")
    return value


@dataclass(slots=True, kw_only=True)
class Records:
    """Models and configurations, by their names.

    Args:
        account: Whose they are.
        region: Where they are.
        models: Members of CreateModel.
        configs: Members of CreateEndpointConfig.
        created_at: When each was created, by its kind and name, in seconds since the epoch.
        tags: By ARN.
        images: Build contexts of images, by tag.
    """

    account: str
    region: str
    models: dict[str, Members] = field(default_factory=dict)
    configs: dict[str, Members] = field(default_factory=dict)
    created_at: dict[tuple[str, str], float] = field(default_factory=dict)
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    images: Mapping[str, Path] = field(default_factory=dict)

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource."""
        return f"arn:aws:sagemaker:{self.region}:{self.account}:{kind}/{name}"

    def read(self, endpoint: str, config: str, components: Mapping[str, Members]) -> Assembly:
        """Return the definition of an endpoint.

        Args:
            endpoint: Its name.
            config: The configuration's name.
            components: Members of CreateInferenceComponent, by name.

        Raises:
            ApiError: Something is missing, or cannot be served here.
        """
        if config not in self.configs:
            raise refused(f'Could not find endpoint configuration "{self.arn("endpoint-config", config)}".')
        resources: dict[str, Any] = {
            "Endpoint": _resource("Endpoint", {"EndpointName": endpoint, "EndpointConfigName": config}),
            "Config": _resource("EndpointConfig", self.configs[config]),
        }
        # Guard: the ids are part of the definitions, and those of one thing are compared with each other later on.
        resources |= {f"Model {name}": _resource("Model", one) for name, one in self.models.items()}
        resources |= {f"Component {name}": _resource("InferenceComponent", one) for name, one in components.items()}
        try:
            found = read_template(
                {"Resources": resources},
                stack=endpoint,
                account=self.account,
                region=self.region,
                images=self.images,
                # Callers create an endpoint first, and its components afterwards.
                is_whole=False,
            )
        except AssemblyError as error:
            raise refused(str(error)) from error
        if not found.endpoints:
            # Asynchronous or serverless: the notices say which.
            raise refused("; ".join(str(one) for one in found.notices))
        return found


def _resource(kind: str, members: Members) -> dict[str, Any]:
    return {"Type": f"AWS::SageMaker::{kind}", "Properties": dict(members)}
