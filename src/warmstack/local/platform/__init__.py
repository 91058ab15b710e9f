"""The platform: endpoints, instances and copies that run, which of them a request goes to, sessions and faults."""
