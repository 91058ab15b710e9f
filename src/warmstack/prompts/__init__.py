"""The lint of prompts: do requests that should share a prefix begin with the same bytes, and if not, why.

::

    RecordedRequest … ──group_of──▶ conversations, or equal system prompts
          each with the one before it, as sent and canonical ──lint_requests──▶ LintReport
"""

from warmstack.prompts.document import report_document
from warmstack.prompts.fixes import SHORTEST_PREFIX, fix_of
from warmstack.prompts.grouping import Group, group_of
from warmstack.prompts.histogram import LONGEST, Quantiles
from warmstack.prompts.lint import CANDIDATES, LintError, lint_requests
from warmstack.prompts.report import Candidate, Example, GroupReport, KindCount, LintReport, Measure

__all__ = [
    "CANDIDATES",
    "LONGEST",
    "SHORTEST_PREFIX",
    "Candidate",
    "Example",
    "Group",
    "GroupReport",
    "KindCount",
    "LintError",
    "LintReport",
    "Measure",
    "Quantiles",
    "fix_of",
    "group_of",
    "lint_requests",
    "report_document",
]
