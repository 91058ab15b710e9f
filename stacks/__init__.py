"""CDK stacks and constructs: every import of aws_cdk in the project is in this package and in app.py."""
