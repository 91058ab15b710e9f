"""The HTTP surface: SageMaker's runtime API, the OpenAI path, the control plane, and sight of what happens."""
