"""What fits: GPUs, context, copies, instances."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
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
        "Raise or remove the timeout; at the service's limit of 3600 s use quantized weights, or measure and accept.",
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
    (
        "WS036",
        "warning",
        "The quantization method needs a checkpoint that was quantized by it.",
        "Remove model.quantization, or name a checkpoint quantized so with its config.json in model.config.",
        "vLLM and SGLang look for the method's configuration in the checkpoint and refuse to start without",
    ),
)
