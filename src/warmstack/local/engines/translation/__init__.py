"""What a Model's environment says to a server on a GPU, as arguments of the local engine; each difference is named.

Pure: files that the image carries are reached through functions that are passed in.
"""

from __future__ import annotations

from warmstack.local.engines.translation.replacements import Replacement
from warmstack.local.engines.translation.tiers import Tiers
from warmstack.local.engines.translation.translate import Translation, TranslationRequest, translate

__all__ = ["Replacement", "Tiers", "Translation", "TranslationRequest", "translate"]
