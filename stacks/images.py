"""Where each model's image comes from: the stock registry, a Docker asset, or a build in the account."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aws_cdk import CfnResource
from constructs import Construct, IDependable

from stacks.registry import Registry
from warmstack.plan import ImageBuild, Plan, ServedModel


class Images(Construct):
    """Answers a model's image, and ``${ImageRepositoryArn}`` in the plan's texts for ``Fn::Sub``."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        plan: Plan,
        registry: Registry,
        contexts: Mapping[str, Path],
    ) -> None:
        """Define what builds the images.

        Args:
            scope: the parent.
            construct_id: the id.
            plan: the plan.
            registry: answers the registry's account.
            contexts: the folders of the build contexts, by the name of the image in the plan.
        """
        super().__init__(scope, construct_id)
        self._registry = registry
        self._uris: dict[str, str] = {}
        self._built: dict[str, IDependable] = {}
        self._repository_arn: str | None = None
        for image in plan.images:
            folder = contexts[image.name]
            if image.mode == "docker":
                self._asset(image.name, folder)
            else:
                self._build(image, folder)

    def uri(self, served: ServedModel) -> str:
        """Return the image reference for the served model's container."""
        if served.image.build is None:
            return self._registry.resolve(served.image.uri)
        return self._uris[served.image.build]

    def wait_for(self, served: ServedModel, resource: CfnResource) -> None:
        """Let a resource wait until the model's image has been built."""
        if served.image.build in self._built:
            resource.node.add_dependency(self._built[served.image.build])

    def resolve(self, text: str) -> str:
        """Return a text of the plan with its placeholders filled in."""
        if text == "${ImageRepositoryArn}":
            return str(self._repository_arn)
        return self._registry.resolve(text)

    def _asset(self, name: str, folder: Path) -> None:
        # Late: the modules take time to load, and most stacks build nothing.
        from aws_cdk import aws_ecr_assets as assets

        asset = assets.DockerImageAsset(
            self,
            name,
            directory=str(folder),
            platform=assets.Platform.LINUX_AMD64,
            display_name=f"warmstack-{name}",
        )
        self._uris[name] = asset.image_uri
        self._repository_arn = asset.repository.repository_arn

    def _build(self, image: ImageBuild, folder: Path) -> None:
        from stacks.image_builder import BuiltImage, ImageBuilder

        builder = self.node.try_find_child("Builder")
        if not isinstance(builder, ImageBuilder):
            builder = ImageBuilder(self, "Builder")
        built = BuiltImage(self, image.name, builder=builder, image=image, folder=folder, registry=self._registry)
        # One after the other: a new account may run one build of this size at a time, and the next would wait in
        # CodeBuild's queue, where its time is short.
        for before in self._built.values():
            built.node.add_dependency(before)
        self._uris[image.name] = built.uri
        self._built[image.name] = built
        self._repository_arn = builder.repository_arn
