"""Cloud assemblies and CloudFormation templates, read: what they say of SageMaker endpoints."""
