"""The wire contract of SageMaker's runtime API: headers, limits, errors, event streams and bearer tokens."""
