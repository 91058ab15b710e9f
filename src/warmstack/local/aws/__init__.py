"""AWS on this machine, as far as `cdk deploy` needs it.

::

    the CDK CLI, boto3 ──▶ front ─┬─ cloudformation ──▶ stacks ──▶ resources ─┬─▶ SageMaker (a port: ports.SageMaker)
                                  │   (its protocol)    (order,    (one small  └─▶ moto, by botocore in this process
                                  │                     rollback)   handler a type)
                                  ├─ SageMaker and its runtime: the local endpoint's own application
                                  └─ IAM, S3, SSM, STS, ECR, …: moto
"""
