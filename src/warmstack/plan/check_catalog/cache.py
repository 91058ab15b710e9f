"""Tiers below the GPU."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
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
        "On sglang write a CPU tier, then a disk tier; a remote tier needs LMI 17 or newer, or the vllm server.",
        "SGLang hierarchical cache: its storage backend lies below the host pool; DJL Serving: LMCache since LMI 17",
    ),
    (
        "WS044",
        "warning",
        "Direct I/O is left out: a chunk is not a multiple of 4096 bytes.",
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
    (
        "WS047",
        "warning",
        "A cache setting has no effect.",
        "Remove it, or write the tier that it belongs to.",
        "LMCache and SGLang read it only with a tier",
    ),
    (
        "WS048",
        "warning",
        "SGLang's host cache is smaller than the KV on the GPU.",
        "Raise cache.tiers.cpu, or leave the tier out.",
        "SGLang hierarchical cache: the host pool holds a copy of what the GPU holds",
    ),
    (
        "WS049",
        "note",
        "The instance has less RAM than system, processes and the weights on their way.",
        "Expect a slower start, or choose a size with more RAM for the same GPUs.",
        "weights pass through the page cache while they load; the kernel drops pages and reads them again",
    ),
    (
        "WS120",
        "error",
        "Network isolation keeps the container from the remote tier.",
        "Remove cache.tiers.remote or endpoint.network_isolation.",
        "DG network isolation: no outbound calls from the container",
    ),
    (
        "WS121",
        "error",
        "The Region of the bucket is not known.",
        "Write cache.tiers.remote.region, or target.",
        "LMCache s3_adapter: s3_region is required",
    ),
    (
        "WS122",
        "note",
        "LMCache reuses prefixes only.",
        "Keep what is shared first in the prompt; cache.lmcache.enable_blending tries more.",
        "LMCache: a chunk's key holds the hash of everything before it, unless blending is on",
    ),
    (
        "WS123",
        "error",
        "Blending needs a vLLM that hands its model to LMCache, and the stock images' does not.",
        "Remove cache.lmcache.enable_blending, or name an image.base whose vLLM is patched for it, and measure.",
        "LMCache 0.5.6 VLLMModelTracker: nothing in LMCache or vLLM 0.32 registers the model, and the worker fails",
    ),
    (
        "WS124",
        "error",
        "Blending does not work with this model or this tier.",
        "Remove cache.lmcache.enable_blending, or the remote tier.",
        "LMCache 0.5.6: models of three classes only; remote stores refuse unfinished chunks",
    ),
    (
        "WS125",
        "warning",
        "The endpoint may not reach the store.",
        "Use a store with a public address and TLS (rediss://), or S3; a VPC is not supported yet.",
        "an endpoint without VpcConfig has no route into a VPC",
    ),
    (
        "WS126",
        "note",
        "The size limit of SGLang's disk tier was read in version 0.5.23.",
        "After a first deploy, look at the size of the folder that the message names.",
        "SGLang 0.5.23 lru_file_evictor: SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE; older versions may ignore it",
    ),
)
