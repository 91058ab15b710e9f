"""The session server: what stands in front of the SGLang engine in Warmstack's container image.

The stock SGLang image answers ``GET /ping`` and chat completions on ``POST /invocations``. This server adds SageMaker's
stateful sessions, adapter components, the other request forms, limits and formatters; the engine listens on the
loopback only. ``python -m session_server`` starts and supervises both.

How a request flows::

    endpoint (HTTP: body, limits, disconnects)
      → gateway (what to do: session, formatter, form, adapter)
        → engine_client (the engine's HTTP)
      ← a Reply or a StreamReply, sent as it comes

Pure modules hold the rules (session_protocol, forms, adapter_references, inputs_form, sse); the others hold the I/O.
"""
