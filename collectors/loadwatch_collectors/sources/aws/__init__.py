"""CloudWatch and the AWS APIs beside it: pure cores, and `client_botocore.py` as the only importer of botocore."""
