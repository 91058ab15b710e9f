"""Models: the container of an ``AWS::SageMaker::Model`` or of a component."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from warmstack.assembly.definitions import ModelDefinition, Notice
from warmstack.assembly.fields import Fields
from warmstack.assembly.servers import server_of
from warmstack.assembly.template import Template
from warmstack.assembly.unresolved import Problems, Unresolved

Tell = Callable[[Notice], None]


def notice(template: Template, logical_id: str, what: str, why: str) -> Notice:
    """Return a notice about a resource of a template."""
    return Notice(stack=template.source.stack, logical_id=logical_id, what=what, why=why)


def read_model(template: Template, logical_id: str, tell: Tell) -> ModelDefinition:
    """Read an ``AWS::SageMaker::Model``.

    Args:
        template: The template.
        logical_id: The model.
        tell: Takes notices.
    """
    fields = Fields(template, logical_id)
    container = fields.inside("PrimaryContainer")
    if "PrimaryContainer" not in fields:
        containers = fields.each("Containers")
        if not containers:
            fields.wrong("PrimaryContainer", "is missing, and so is Containers; a model has one of them")
        else:
            container = containers[0]
        if len(containers) > 1:
            tell(notice(template, logical_id, "Containers", "a pipeline is not served; its first container is"))
    name = template.name(logical_id)
    return _read_container(
        container,
        name=name if isinstance(name, str) else "",
        role=fields.best_text("ExecutionRoleArn", _teller(fields, tell, "it is left out")),
        tell=tell,
    )


def read_component_container(container: Fields, name: str, tell: Tell) -> ModelDefinition:
    """Read the container that a component brings itself."""
    return _read_container(container, name=name, role=None, tell=tell)


def _read_container(container: Fields, *, name: str, role: str | None, tell: Tell) -> ModelDefinition:
    template, logical_id = container.template, container.logical_id
    left_out = _teller(container, tell, "it is left out")
    if container.text("Mode", on_unresolved=left_out) == "MultiModel":
        tell(notice(template, logical_id, container.place("Mode"), "multi-model containers are served as one model"))
    image = container.best_text("Image", _teller(container, tell, "the image is named as far as it is known")) or ""
    if not image:
        if "ModelPackageName" in container:
            why = "the image of a model package is known to the registry only; none is named"
            tell(notice(template, logical_id, container.place("ModelPackageName"), why))
        else:
            container.wrong("Image", "is missing, and so is ModelPackageName; a container has one of them")
    environment = container.texts("Environment", left_out)
    staged = _staged(template, image)
    server = server_of(image, staged, environment)
    if server is None:
        why = f"neither the image {image!r} nor the environment says which server it is: lmi, vllm or sglang"
        tell(notice(template, logical_id, container.place("Image"), why))
    source = container.inside("ModelDataSource").inside("S3DataSource")
    data = source.best_text("S3Uri", left_out) or container.best_text("ModelDataUrl", left_out)
    data = data or container.best_text("ArtifactUrl", left_out)
    return ModelDefinition(
        name=name,
        logical_id=logical_id,
        image=image,
        environment=environment,
        server=server,
        model_data=data,
        staged=staged,
        execution_role=role,
    )


def _teller(fields: Fields, tell: Tell, outcome: str) -> Callable[[str, Unresolved], None]:
    def say(place: str, value: Unresolved) -> None:
        tell(notice(fields.template, fields.logical_id, place, f"{value.why}; {outcome}"))

    return say


def _staged(template: Template, image: str) -> Path | None:
    """Return the build context of an image: a Docker asset's folder, or the one that a CodeBuild project builds."""
    assets = template.source.assets
    tag = image.rsplit(":", 1)[-1]
    if tag in assets.images:
        return assets.images[tag]
    if not image or not assets.files:
        return None
    # What is wrong with a project is the business of those who deploy it.
    quiet = template.quiet(Problems())
    for project in quiet.of_type("AWS::CodeBuild::Project"):
        fields = Fields(quiet, project)
        variables = fields.inside("Environment").each("EnvironmentVariables")
        if any(one.best_text("Value", _ignore) == image for one in variables):
            location = fields.inside("Source").text("Location", on_unresolved=_ignore) or ""
            return assets.files.get(location.split("/", 1)[-1])
    return None


def _ignore(place: str, value: Unresolved) -> None:
    """A value that is not known is not the one that is looked for."""
