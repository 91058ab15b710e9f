"""Images of ours."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
    (
        "WS110",
        "error",
        "Docker has nothing to build the image on.",
        "Write target, name a public image.base, or build in the account, where the Region is known: codebuild.",
        "the deep learning containers' registry differs from Region to Region",
    ),
    (
        "WS111",
        "error",
        "SageMaker does not pull from public registries.",
        "Mirror the image into a private ECR repository, or build on it: image.build: docker.",
        "API ContainerDefinition.Image: a private registry in the endpoint's Region",
    ),
    (
        "WS112",
        "error",
        "The stock image cannot carry the file.",
        "Write image.build: docker or codebuild (a chat template may lie with the weights instead).",
        "an environment value has at most 1,024 characters and no line break",
    ),
    (
        "WS113",
        "note",
        "The image to build adds nothing to the stock image.",
        "Write image.build: none: the deploy is faster and needs no build.",
        "settings travel in the Model's environment, whatever the image",
    ),
    (
        "WS114",
        "error",
        "LMI finds formatters only beside weights that lie in S3.",
        "Put the weights into S3 and name them with model.weights.s3, or use the vllm or sglang server.",
        "DJL Serving service_loader: model.py of the model's folder",
    ),
    (
        "WS115",
        "error",
        "On LMI an output formatter of the base model breaks sessions.",
        "Move the output formatter into the adapters, remove endpoint.sessions, or use the vllm server.",
        "DJL Serving vllm_async_service: session replies pass through the output formatter, without their headers",
    ),
    (
        "WS116",
        "error",
        "The LMI release does not take an output formatter's answer as it is.",
        "Use LMI 20 or newer, or an input formatter only.",
        "DJL Serving vllm_async_service, release branches lmi18 to lmi27: lmi20 is the first that does not",
    ),
)
