"""Before and after a deploy: `warmstack preflight` and `warmstack verify`. They look, and change nothing.

::

    Plan ──preflight──▶ questions to AWS ──▶ Report
    endpoint, what it is to be ──verify──▶ questions to SageMaker, generations ──▶ Report

A check says what was seen, why it matters and the way out. What AWS does not let us see is said with the permission
that it takes; it is never a guess.
"""

from warmstack.operate.clients import make_client
from warmstack.operate.errors import OperateError
from warmstack.operate.preflights.account import Account, LocalAws
from warmstack.operate.preflights.checks import PREFLIGHT_CHECKS
from warmstack.operate.preflights.run import preflight
from warmstack.operate.results import Check, Outcome, Report, Result
from warmstack.operate.verification.checks import VERIFY_CHECKS
from warmstack.operate.verification.expected import Expected, of_assembly
from warmstack.operate.verification.place import Named, Place, check_named, find_place
from warmstack.operate.verification.run import VerifyOrder, VerifyTools, verify
from warmstack.operate.verification.stack import DeployedStack, describe_stack, of_stack
from warmstack.operate.verification.waiting import Waiting

__all__ = [
    "PREFLIGHT_CHECKS",
    "VERIFY_CHECKS",
    "Account",
    "Check",
    "DeployedStack",
    "Expected",
    "LocalAws",
    "Named",
    "OperateError",
    "Outcome",
    "Place",
    "Report",
    "Result",
    "VerifyOrder",
    "VerifyTools",
    "Waiting",
    "check_named",
    "describe_stack",
    "find_place",
    "make_client",
    "of_assembly",
    "of_stack",
    "preflight",
    "verify",
]
