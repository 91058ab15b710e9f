"""The spec as a whole, updates, secrets and isolation."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
    # The spec as a whole
    (
        "WS001",
        "error",
        "The catalog does not hold the instance type.",
        "Choose one of `warmstack catalog instances`.",
        "API ProductionVariantInstanceType; the catalog's instance table",
    ),
    (
        "WS002",
        "error",
        "The catalog does not hold the model's shape, and no config.json is given.",
        "Download the model's config.json and name it with model.config, or choose one of `warmstack catalog models`.",
        "the catalog's model table",
    ),
    (
        "WS003",
        "error",
        "The catalog does not hold the image version.",
        "Choose one of `warmstack catalog images`.",
        "SageMaker Python SDK image tables; release table of the LMI container",
    ),
    (
        "WS004",
        "warning",
        "engine.version is absent, so an upgrade of Warmstack moves the image.",
        "Write the version that the plan shows.",
        "design: the newest image in the catalog is taken",
    ),
    (
        "WS005",
        "error",
        "Building an image is not supported yet.",
        "Write image.build: none, the stock image.",
        "this version deploys stock images only",
    ),
    (
        "WS006",
        "error",
        "The image's registry does not exist in the target Region.",
        "Choose a Region or a version that has it, or mirror the image and name it with image.base and target.",
        "SageMaker Python SDK image tables (registries per version)",
    ),
    (
        "WS007",
        "error",
        "The AMI does not carry the driver that the image's CUDA version needs.",
        "Remove endpoint.inference_ami_version, or use al2023-ami-sagemaker-inference-gpu-4-1 with CUDA 13 images.",
        "API ProductionVariant.InferenceAmiVersion: gpu-4-1 has driver 580, CUDA 13.0",
    ),
    (
        "WS008",
        "note",
        "image.base replaces the stock image: what it can do is taken from engine.version.",
        "Keep engine.version equal to what the image was built from.",
        "an image reference says nothing about its contents",
    ),
    (
        "WS009",
        "note",
        "The price of the instance type is not known.",
        "Look it up in the SageMaker pricing page; the plan leaves the cost out.",
        "the catalog's instance table",
    ),
    (
        "WS010",
        "error",
        "Two resources would get the same physical name.",
        "Rename one of the components or adapters.",
        "naming rule: {name}-{environment}[-{component}[-{adapter}]]",
    ),
    (
        "WS011",
        "warning",
        "An acknowledgement silences nothing.",
        "Remove it.",
        "an acknowledgement must not outlive its reason",
    ),
    (
        "WS012",
        "error",
        "An acknowledgement names an error.",
        "Repair what the error names: errors cannot be acknowledged.",
        "an error means the deployment fails or answers wrongly",
    ),
    (
        "WS013",
        "warning",
        "The AMI is left to the platform, because the image's CUDA version is not known.",
        "Write endpoint.inference_ami_version, or take a version whose CUDA is known (`warmstack catalog images`).",
        "the tags of the Amazon Linux 2023 images state no CUDA version",
    ),
    (
        "WS014",
        "error",
        "The execution role's policy is longer than IAM takes.",
        "Put the adapters' archives into fewer folders, or split the deployment.",
        "IAM quotas: 10,240 characters of inline policies a role",
    ),
    (
        "WS015",
        "error",
        "The stack has more resources or outputs than CloudFormation takes.",
        "Split the deployment: some of the adapters or components on another endpoint.",
        "CloudFormation quotas: 500 resources and 200 outputs a template",
    ),
    (
        "WS016",
        "error",
        "image.base is one image for components of several servers or versions.",
        "Remove image.base, or use one server and version.",
        "a deployment has one image.base",
    ),
    (
        "WS017",
        "warning",
        "Instances are kept that no copy ever needs.",
        "Lower endpoint.instances.min, or raise copies.",
        "copies and accelerators against the GPUs of the instances",
    ),
    # Updates
    (
        "WS070",
        "note",
        "What an edit of routing, AMI or metrics does to placed components is not documented.",
        "Such an edit replaces the endpoint configuration; try it on a test endpoint first.",
        "DG and API are silent on UpdateEndpoint for endpoints with inference components",
    ),
    (
        "WS071",
        "note",
        "The template's copy count competes with target tracking.",
        "Expect an update of the component to start again from copies.min.",
        "CloudFormation: RuntimeConfig.CopyCount is write-only, so drift is not seen",
    ),
    (
        "WS072",
        "note",
        "An update of a component has no room for the copy it adds first.",
        "Raise endpoint.instances.max by one, or expect updates to wait while copies are at their maximum.",
        "DG, inference component rolling updates: copies are added before old ones go",
    ),
    # Secrets and isolation
    (
        "WS100",
        "error",
        "Network isolation keeps the container from the hub.",
        "Put the weights, and any draft, into S3 and name them with model.weights.s3.",
        "DG network isolation: no outbound calls from the container",
    ),
    (
        "WS101",
        "error",
        "A hub token has no place in a stock image's template that keeps it secret.",
        "Mirror the weights to S3 and name them with model.weights.s3.",
        "API CreateModel: Environment is readable by DescribeModel",
    ),
    (
        "WS102",
        "note",
        "Hub weights without a revision: a copy started later may load other weights.",
        "Write model.weights.hub.revision with a commit.",
        "the hub serves the branch's newest commit",
    ),
)
