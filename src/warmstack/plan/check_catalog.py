"""Every check that plans run, by id. Ids never change meaning and are never used again.

The table is what `warmstack explain` and the reference page print; the code that looks is in ``plan/checks``
and in the planning steps. Sources name public documents: the SageMaker API reference as botocore 1.44.8 carries
it ("API"), the developer guide ("DG"), the sources of the containers (DJL Serving, vLLM, SGLang, LMCache).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.plan.model import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Args:
        id: such as ``WS051``.
        severity: what it usually finds.
        reason: one line: what is wrong, or worth knowing.
        fix: the way out.
        source: how the rule is known.
    """

    id: str
    severity: Severity
    reason: str
    fix: str
    source: str


def _table(*rows: tuple[str, Severity, str, str, str]) -> Mapping[str, Check]:
    return {row[0]: Check(id=row[0], severity=row[1], reason=row[2], fix=row[3], source=row[4]) for row in rows}


CHECKS: Mapping[str, Check] = _table(
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
        "Choose a Region or a version that has it, or mirror the image and name it with image.base.",
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
    # What fits
    (
        "WS020",
        "error",
        "The model does not fit on the GPUs it may use.",
        "Choose a larger instance type, more accelerators, or quantized weights.",
        "weights + estimated overhead against gpu_memory_utilization of the GPU memory",
    ),
    (
        "WS021",
        "error",
        "max_model_len is more than the model was made for.",
        "Lower model.max_model_len to the model's max_position_embeddings, or set rope scaling with hf_overrides.",
        "vLLM and SGLang refuse it at start (max_position_embeddings of config.json)",
    ),
    (
        "WS022",
        "error",
        "max_model_len is more than one copy's KV cache holds.",
        "Lower model.max_model_len, or use more GPUs, an 8-bit kv_cache_dtype, or a larger instance type.",
        "vLLM refuses to start when one full sequence does not fit",
    ),
    (
        "WS023",
        "note",
        "max_model_len was cut to what one copy's KV cache holds.",
        "Write model.max_model_len to choose it yourself.",
        "KV bytes per token against the memory left beside the weights",
    ),
    (
        "WS024",
        "error",
        "The tensor parallel degree does not divide the model's attention heads.",
        "Choose a degree that divides the heads, and divides or is a multiple of the KV heads.",
        "vLLM and SGLang refuse it at start",
    ),
    (
        "WS025",
        "warning",
        "GPUs of the instance stay idle, or serve hidden second copies.",
        "Serve the model as a component with that many accelerators, or choose another instance type.",
        "DJL Serving: a degree below the GPU count starts several workers; vLLM leaves the others idle",
    ),
    (
        "WS026",
        "error",
        "A smaller tensor parallel degree breaks sessions and LMCache's own sizing.",
        "Remove engine.tensor_parallel_degree, or serve the model as a component.",
        "DJL Serving: one worker per group of GPUs, each with its own session table and cache",
    ),
    (
        "WS027",
        "error",
        "A component's accelerators and its tensor parallel degree differ.",
        "Write one of the two; the other follows.",
        "DJL Serving starts several workers in one copy; vLLM leaves the GPUs idle",
    ),
    (
        "WS028",
        "error",
        "A copy needs more GPUs than an instance has.",
        "Lower accelerators, or choose a larger instance type.",
        "a copy runs on one instance (API InferenceComponentComputeResourceRequirements)",
    ),
    (
        "WS029",
        "error",
        "The copies need more instances than the endpoint may have.",
        "Raise endpoint.instances.max, or lower copies.",
        "DG: copies that do not fit wait for scale-out up to MaxInstanceCount",
    ),
    (
        "WS030",
        "error",
        "The model's layout is not understood, so nothing can be said about what fits.",
        "Choose another model; a plan with invented sizes would be worse than none.",
        "the catalog's model shape names what it cannot count",
    ),
    (
        "WS031",
        "error",
        "The options ask for more GPUs than a copy has, or for pipeline parallelism.",
        "Lower the option: a copy has tensor_parallel_degree x data_parallel_size GPUs and no pipeline.",
        "DJL Serving's vLLM handler demands 1; the plan counts one GPU group per copy",
    ),
    (
        "WS032",
        "error",
        "Scaling instances of a variant that hosts the model itself is not supported yet.",
        "Make instances.min and instances.max equal, or serve the model as a component.",
        "variant scaling (sagemaker:variant:DesiredInstanceCount) has no resources here yet",
    ),
    (
        "WS033",
        "warning",
        "The weights may take longer to arrive than SageMaker waits.",
        "Use quantized weights or measure the download; 3600 s is the service's limit.",
        "API ModelDataDownloadTimeoutInSeconds and ContainerStartupHealthCheckTimeoutInSeconds: 60..3600",
    ),
    (
        "WS034",
        "note",
        "KV heads are replicated: more GPUs than KV heads hold the same KV more than once.",
        "Run more copies with fewer GPUs each if KV capacity matters more than latency.",
        "vLLM replicates KV heads when the degree exceeds them",
    ),
    (
        "WS035",
        "error",
        "The model's context length is not known, so max_model_len cannot be derived.",
        "Write model.max_model_len, or name the model's config.json with model.config.",
        "the catalog's model table leaves max_position_embeddings open where no source states it",
    ),
    # Cache tiers
    (
        "WS040",
        "error",
        "The CPU tier does not fit in the instance's RAM.",
        "Lower cache.tiers.cpu, or write auto.",
        "RAM minus system, weights staging and processes; LMCache's size counts per worker",
    ),
    (
        "WS041",
        "error",
        "The disk tier has no NVMe to live on.",
        "Lower cache.tiers.disk, write none, or choose an instance type with NVMe.",
        "the catalog's instance table; weights live on the same disk",
    ),
    (
        "WS042",
        "error",
        "LMCache's own configuration cannot be used here.",
        "Remove cache.lmcache.auto_config, or meet its limits.",
        "DJL Serving lmcache_utils: LMI 19 and newer, tensor parallel only, no manual sizes",
    ),
    (
        "WS043",
        "error",
        "The tier is not supported on this server or this version.",
        "Use the CPU tier on sglang, LMI 17 or newer, or the vllm server.",
        "SGLang's file storage backend needs settings that this version does not render",
    ),
    (
        "WS044",
        "warning",
        "Direct I/O falls back to the page cache: a chunk is not a multiple of 4096 bytes.",
        "Choose the chunk_size that the message names.",
        "LMCache local_disk_backend: O_DIRECT only for multiples of the file system's block size",
    ),
    (
        "WS045",
        "note",
        "The image does not pin its LMCache version.",
        "After an image upgrade, look for LMCache's hit log lines before relying on the tiers.",
        "requirements of the container images name LMCache without a version, or are not known",
    ),
    (
        "WS046",
        "error",
        "LMCache cannot hold the KV of a hybrid model, and the engine does not start.",
        "Remove cache.tiers and cache.lmcache.auto_config, or serve a model with attention layers only.",
        "vLLM 0.32: LMCacheConnectorV1 switches the hybrid cache manager off, which hybrid models need",
    ),
    # Routing
    (
        "WS050",
        "error",
        "prefix_length and concurrency_threshold belong to PREFIX_AWARE.",
        "Remove them, or write strategy: PREFIX_AWARE.",
        "API ProductionVariantRoutingConfig: only with PREFIX_AWARE",
    ),
    (
        "WS051",
        "warning",
        "PREFIX_AWARE does nothing until two instances can serve a request.",
        "Write instances.min: 2 or more.",
        "API PrefixAwareRoutingConfig: applied only when two or more instances can serve the request",
    ),
    (
        "WS052",
        "warning",
        "PREFIX_AWARE on a component needs two copies on two instances.",
        "Write copies.min: 2 or more.",
        "API PrefixAwareRoutingConfig: applied only when two or more instances can serve the request",
    ),
    (
        "WS053",
        "warning",
        "concurrency_threshold is above max_num_seqs: requests queue on one copy before any spills.",
        "Lower it to at most max_num_seqs of the weakest copy.",
        "API PrefixAwareRoutingConfig: one threshold for every copy of the variant",
    ),
    (
        "WS054",
        "error",
        "KV_AWARE works only with supported containers, and the vLLM server is the only one named.",
        "Write engine.server: vllm, or strategy: PREFIX_AWARE.",
        "API ProductionVariantRoutingConfig",
    ),
    (
        "WS055",
        "warning",
        "Whether CloudFormation accepts KV_AWARE is not verified.",
        "Try it in a test account first; PREFIX_AWARE is accepted.",
        "API has the value; the resource schema of cfn-lint 1.58 does not list it",
    ),
    (
        "WS056",
        "warning",
        "Data parallel ranks inside a copy each have their own cache.",
        "Run more copies instead: routing and sessions choose a copy, not a rank.",
        "vLLM and SGLang: one KV cache per data parallel rank",
    ),
    (
        "WS057",
        "note",
        "How PREFIX_AWARE treats adapter components is not documented.",
        "Watch the cached-token counts per adapter.",
        "API reference and DG are silent",
    ),
    # Sessions
    (
        "WS060",
        "warning",
        "Sessions on inference components are not documented.",
        "Remove components, or acknowledge it after a test.",
        "DG stateful sessions describe endpoints whose variant hosts the model",
    ),
    (
        "WS061",
        "error",
        "The stock SGLang image has no sessions.",
        "Use the lmi or vllm server, or PREFIX_AWARE without sessions.",
        "SGLang image: no session routes reachable through SageMaker",
    ),
    (
        "WS062",
        "warning",
        "Scale-in can end a session before its ttl.",
        "Keep min and max equal while sessions matter, or keep the transcript in the client.",
        "DG: session state lives in the container and is lost with the instance",
    ),
    (
        "WS063",
        "note",
        "With one instance every request already goes to the same place.",
        "Sessions pay from two instances on.",
        "DG stateful sessions: a session pins requests to an instance",
    ),
    (
        "WS064",
        "error",
        "The image version has no sessions.",
        "Use LMI 16 or newer.",
        "DJL Serving session_manager: LMI 16 and newer",
    ),
    (
        "WS065",
        "note",
        "How sessions and PREFIX_AWARE work together is not documented.",
        "Requests with a session id are expected to follow the session.",
        "API reference and DG are silent",
    ),
    (
        "WS066",
        "error",
        "Several API server processes each have their own session table.",
        "Remove api_server_count, or remove sessions.",
        "model-hosting-container-standards: the session manager is one per process",
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
    # Engine settings
    (
        "WS080",
        "error",
        "The server does not know the option.",
        "Correct the name; `warmstack catalog flags SERVER` lists them.",
        "LMI drops unknown options silently, vLLM and SGLang refuse to start",
    ),
    (
        "WS081",
        "error",
        "The option has no effect on this server any more.",
        "Remove it.",
        "EngineArgs of vLLM 0.33; DJL Serving properties",
    ),
    (
        "WS082",
        "error",
        "The option repeats a typed field.",
        "Write the typed field instead.",
        "two places for one setting would disagree one day",
    ),
    (
        "WS083",
        "error",
        "The option's value is not of the kind or among the choices the server accepts.",
        "Write a value of that kind.",
        "flag snapshots of vLLM 0.32 and SGLang 0.5.23",
    ),
    (
        "WS084",
        "error",
        "The image cannot be told 'false'.",
        "Leave the option out, or use LMI 26 or newer.",
        "DJL Serving before LMI 26 drops false; the vLLM and SGLang images turn it into nothing",
    ),
    (
        "WS085",
        "error",
        "The value cannot travel through the image's start-up unharmed.",
        "Keep percent signs and line breaks out of option values.",
        "standard-supervisor reads % as interpolation; the SGLang entrypoint reads line by line",
    ),
    (
        "WS086",
        "error",
        "The environment is over SageMaker's limits.",
        "Shorten the value, or use fewer options.",
        "API CreateModel: 100 entries, 1024 characters a value, 32 KB in all",
    ),
    (
        "WS087",
        "note",
        "Options are checked against the flags of another engine version.",
        "If the server refuses a flag at start, compare with its own --help.",
        "flag snapshots of vLLM 0.32 and SGLang 0.5.23",
    ),
    (
        "WS088",
        "error",
        "The draft is not where the container can find it.",
        "Put the draft in a folder inside the weights prefix and name it like drafts/eagle3/, or give a hub id.",
        "AdditionalModelDataSources is not in CloudFormation; only the weights prefix is mounted",
    ),
    (
        "WS089",
        "error",
        "Speculative decoding is not supported yet on this server.",
        "Use the lmi or vllm server, or remove engine.speculative.",
        "SGLang names its speculative settings differently; they are not rendered yet",
    ),
    # Adapters
    (
        "WS090",
        "error",
        "The image cannot serve adapter components.",
        "Use LMI 16 or newer, or the vllm server.",
        "adapters API: DJL Serving and model-hosting-container-standards; the stock SGLang image has none",
    ),
    (
        "WS091",
        "error",
        "An adapter's rank is above the engine's max_lora_rank.",
        "Raise engine.options.max_lora_rank or leave it out.",
        "vLLM refuses to load the adapter",
    ),
    (
        "WS092",
        "note",
        "There are more adapters than the CPU keeps: the least used are read from disk again.",
        "Raise engine.options.max_cpu_loras.",
        "vLLM LoRA manager: LRU of max_cpu_loras",
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
