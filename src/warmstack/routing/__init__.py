"""Which copy a request goes to: pure functions, shared by the local endpoint and the simulator."""
