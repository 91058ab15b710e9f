"""The bridge to LMI, shipped as ``model.py`` beside ``formatters.py``.

LMI looks in model.py for functions with the marks ``is_input_formatter`` and ``is_output_formatter``. It gives them the
payload, vLLM's response object, or a chunk as a server-sent event, and sends what they return as it is, with a line
break behind it. (DJL Serving ``lmi_vllm/vllm_async_service.py`` and ``async_utils.py``, releases lmi20 to lmi27.)
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import logging
import os
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, NoReturn

_HERE = Path(__file__).parent
_PREFIX = "ns_"  # of the module name that LMI gives an adapter's model.py
_REMEMBERED = 1024


def _runtime() -> Any:
    """Return the runtime beside this file, or the one that can be imported."""
    path = _HERE / "warmstack_formatters.py"
    if not path.is_file():
        return importlib.import_module("warmstack_formatters")
    # LMI executes this file four times for each model, and adapters bring runtimes of their own versions: equal
    # content is one module, different content is another.
    name = f"warmstack_formatters_{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _adapter() -> str | None:
    """Return the adapter's name, or None for a base model.

    LMI's module name has ``_`` where the adapter has ``-`` or ``.``. A local adapter's folder has its name; the name
    of an inference component holds no ``_`` and no ``.``.
    """
    if not __name__.startswith(_PREFIX):
        return None
    mangled = __name__.removeprefix(_PREFIX)
    if _HERE.name.replace("-", "_").replace(".", "_") == mangled:
        return _HERE.name
    return mangled.replace("_", "-")


def _load() -> Any:
    """Load the user's file once for all four executions, so that its two formatters share one module."""
    beside = _HERE / "formatters.py"
    path = beside if beside.is_file() else Path(os.environ.get("WARMSTACK_FORMATTERS") or beside)
    adapter = _adapter()
    cache: dict[object, Any] = vars(runtime).setdefault("_loaded_by_lmi_model", {})
    try:
        state = path.stat()
        key = (str(path), adapter, state.st_mtime_ns, state.st_size)
    except OSError:
        key = None
    if key is None or key not in cache:
        try:
            loaded = runtime.load(path, adapter or "the base model", adapter=adapter)
        except runtime.FormatterError as error:
            # LMI's own message names the folder only; this line is what the log has of the reason.
            logging.getLogger("warmstack").error("%s", error)
            raise
        for old in [one for one in cache if isinstance(one, tuple) and one[:2] == (str(path), adapter)]:
            del cache[old]
        cache[key] = loaded
    return cache[key]


class _Failed(dict[str, Any]):
    """The payload of a failed input formatter: whoever looks into it gets the formatter's error.

    LMI hides what an input formatter raises, but answers 424 with the text of what fails while it reads the payload.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def _fail(self, *_: object, **__: object) -> NoReturn:
        raise self._error

    __contains__ = __getitem__ = __setitem__ = __iter__ = _fail
    get = keys = items = pop = _fail


class _Nothing(str):
    """A text that stays empty when LMI puts its line break behind it, so that nothing is sent."""

    __slots__ = ()

    def __add__(self, _: str) -> str:
        return ""


runtime = _runtime()
formatters = _load()
_broken: OrderedDict[str, None] = OrderedDict()  # the ids of streams in which a formatter failed, oldest first


def _format_chunk(event: str) -> str:
    """Return the line for one server-sent event, without its line break."""
    data = event.partition("data:")[2].strip() if event.startswith("data:") else event.strip()
    if data == "[DONE]":
        return _Nothing()
    try:
        chunk = json.loads(data)
    except ValueError:
        return data or _Nothing()
    if not runtime.is_result(chunk):
        return data
    stream = chunk.get("id")
    if isinstance(stream, str) and stream in _broken:
        return _Nothing()
    try:
        formatted = formatters.chunk(chunk)
    except runtime.FormatterError as error:
        logging.getLogger("warmstack").error("%s", error)
        if isinstance(stream, str):
            _broken[stream] = None  # what follows would fail, too, and the client has been told
        while len(_broken) > _REMEMBERED:
            _broken.popitem(last=False)
        return str(runtime.to_text(runtime.error_body(error)))
    return _Nothing() if formatted is None else str(runtime.to_text(formatted))


def _plain(response: Any) -> Any:
    """Return a response as JSON would hold it: an object of vLLM's, or a reply that carries its body."""
    if hasattr(response, "model_dump_json"):
        return json.loads(response.model_dump_json())
    try:
        return json.loads(getattr(response, "body", b""))
    except (TypeError, ValueError):
        return None


if formatters.has_input:

    @runtime.input_formatter  # type: ignore[untyped-decorator]
    def format_input(payload: Any, **_: object) -> Any:
        """Return the payload for the model, or one that reports the formatter's error."""
        if not isinstance(payload, dict) or runtime.is_session_request(payload):
            return payload
        try:
            return formatters.input(payload)
        except runtime.FormatterError as error:
            logging.getLogger("warmstack").error("%s", error)
            return _Failed(error)


if formatters.has_output:

    @runtime.output_formatter  # type: ignore[untyped-decorator]
    def format_output(response: Any, **_: object) -> Any:
        """Return what the client gets for a whole response, or for an event of a streamed one."""
        if isinstance(response, str):
            lines = [_format_chunk(one) for one in response.split("\n\n") if one.strip()]
            sent = [one for one in lines if one]
            return "\n".join(sent) if sent else _Nothing()
        if isinstance(response, dict):
            # A session's reply: LMI wraps the body, and gives formatters nothing else as a dict.
            return response.get("data", response)
        document = _plain(response)
        if not runtime.is_result(document):
            return runtime.to_text(document) if isinstance(document, dict) else response
        try:
            return runtime.to_text(formatters.output(document))
        except runtime.FormatterError as error:
            logging.getLogger("warmstack").error("%s", error)
            return runtime.to_text(runtime.error_body(error))
