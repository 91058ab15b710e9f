"""What LMI answers."""

from __future__ import annotations

from tests.unit.local.dialects import lmi_forms_table, lmi_sessions_table

ROWS = lmi_forms_table.ROWS + lmi_sessions_table.ROWS
