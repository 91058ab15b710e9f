"""One small handler for each type of resource."""
