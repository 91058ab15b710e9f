"""What applications sent: requests read from files, and recorded into them.

::

    JSONL bodies, SageMaker data capture, agent traces ─┐
    Recorder(client) ──▶ a file of its own ─────────────┴─read_requests──▶ RecordedRequest …

Files are read one request at a time.
"""

from warmstack.workload.errors import WorkloadError
from warmstack.workload.reader import read_requests
from warmstack.workload.recorder import Recorder
from warmstack.workload.requests import RecordedRequest, WorkloadFormat

__all__ = ["RecordedRequest", "Recorder", "WorkloadError", "WorkloadFormat", "read_requests"]
