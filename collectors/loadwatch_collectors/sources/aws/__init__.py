"""CloudWatch and the AWS APIs beside it: pure cores, and two clients in `client/` as the only importers of boto3."""
