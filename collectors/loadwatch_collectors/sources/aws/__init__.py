"""CloudWatch and the AWS APIs beside it: pure cores, and `client/boto.py` as the only importer of boto3."""
