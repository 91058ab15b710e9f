"""The reference pages of the documentation: pure functions that return the whole text of one page each.

``scripts/docs.py`` names them with their files; a test holds the files to what these functions return.
"""

from warmstack.cli.reference.catalog import catalog_page
from warmstack.cli.reference.checks import checks_page
from warmstack.cli.reference.commands import commands_page
from warmstack.cli.reference.local import local_page
from warmstack.cli.reference.plan_document import plan_document_page
from warmstack.cli.reference.spec import spec_page

__all__ = ["catalog_page", "checks_page", "commands_page", "local_page", "plan_document_page", "spec_page"]
