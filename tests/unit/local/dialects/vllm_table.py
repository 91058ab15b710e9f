"""What the vLLM image answers."""

from __future__ import annotations

from tests.unit.local.dialects import vllm_forms_table, vllm_sessions_table

ROWS = vllm_forms_table.ROWS + vllm_sessions_table.ROWS
