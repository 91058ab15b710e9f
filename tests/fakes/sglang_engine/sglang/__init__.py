"""A stand-in for SGLang: its documented endpoints, without a model, on the standard library alone."""
