"""LoRA adapters as files: what is in one, whether a server can load it, and the archive that SageMaker reads."""

from warmstack.adapters.archive import read_archive
from warmstack.adapters.checks import check_adapter, configuration_of
from warmstack.adapters.contents import Contents, Entry
from warmstack.adapters.folder import read_folder
from warmstack.adapters.pack import Packed, adapter_name, archive_name, pack
from warmstack.adapters.problems import AdapterError, Problem
from warmstack.adapters.selection import Selection, select
from warmstack.adapters.target import Target, target_of

__all__ = [
    "AdapterError",
    "Contents",
    "Entry",
    "Packed",
    "Problem",
    "Selection",
    "Target",
    "adapter_name",
    "archive_name",
    "check_adapter",
    "configuration_of",
    "pack",
    "read_archive",
    "read_folder",
    "select",
    "target_of",
]
