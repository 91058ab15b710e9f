"""CloudFormation's API: its query protocol, its operations, its documents."""
