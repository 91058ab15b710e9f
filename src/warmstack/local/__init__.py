"""The SageMaker runtime on this machine: endpoints of a synthesized template, served on loopback."""
