"""What asks AWS: one port, its client on boto3, its errors."""
