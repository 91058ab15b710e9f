"""The simulated engine: in this process, deterministic, with a real prefix cache in blocks."""

from warmstack.local.simulated.engine import SimulatedEngine
from warmstack.local.simulated.settings import Latency, SimulatedSettings

__all__ = ["Latency", "SimulatedEngine", "SimulatedSettings"]
