"""Engine settings and adapters."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
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
        "The option belongs to a typed field, to the tiers, or to the platform.",
        "Remove the option; where the message names a field, write that.",
        "two places for one setting would disagree one day; SageMaker's container contract (port 8080, /ping)",
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
    # Adapters
    (
        "WS090",
        "error",
        "The image cannot serve adapter components.",
        "Use LMI 16 or newer, the vllm server, or an image of ours for sglang (image.build).",
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
    (
        "WS094",
        "warning",
        "An option switches off the reuse that the deployment is made for.",
        "Remove the option, or the routing, sessions or tiers that need reuse.",
        "without prefix caching no request finds another's KV",
    ),
    (
        "WS127",
        "warning",
        "A parser of tool calls or reasoning is missing or not known.",
        "Write a name that the image's vLLM registers; vLLM's documentation says which one belongs to the model.",
        "vLLM 0.32.0 tool_parsers and reasoning registries; api_server refuses an unknown name",
    ),
    # Speculative decoding
    (
        "WS095",
        "error",
        "The draft is of another kind than the method.",
        "Write the method that the draft was trained for: eagle, eagle3 or draft_model.",
        "the draft's config.json (architectures, draft_vocab_size); EAGLE and EAGLE3 heads are not interchangeable",
    ),
    (
        "WS096",
        "error",
        "The draft was made for another model.",
        "Use a draft that was trained for this model: hidden size and vocabulary have to match.",
        "the draft's config.json against the model's; the engines fail while they load, or draft nonsense",
    ),
    (
        "WS097",
        "error",
        "The server serves no adapters with this kind of speculative decoding.",
        "Use eagle, eagle3 or ngram, or leave out the adapters.",
        "SGLang 0.5.23 check_lora_speculative_compatibility",
    ),
    (
        "WS098",
        "warning",
        "A setting of speculative decoding has no effect on this server.",
        "Remove it, or write the server's own option.",
        "SGLang 0.5.23 speculative_ngram_* flags",
    ),
    (
        "WS099",
        "note",
        "Whether the draft fits the model is not checked.",
        "Download the draft's config.json and name it with engine.speculative.draft_config.",
        "hidden size, vocabulary and kind are in the draft's config.json",
    ),
)
