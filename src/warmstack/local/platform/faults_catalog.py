"""The faults that can be asked for."""

from __future__ import annotations

from collections.abc import Mapping

FAULTS: Mapping[str, str] = {
    "kill": "end a copy as kill -9 does; it is started again",
    "hang": "have a copy answer nothing",
    "slow": "have a copy wait before each answer, by --seconds",
    "cut": "have a copy break its answers off after --pieces, --times or for good",
    "heal": "take hang, slow and cut from a copy, or every fault that lasts with the target 'all'",
    "refuse": "have a component say that it has no capacity",
    "accept": "have it take requests again",
    "unavailable": "have an endpoint answer 503, --times or for good",
    "expire": "end a session, or each one with the target 'all'",
    "restart": "replace an instance: its sessions are lost",
}
