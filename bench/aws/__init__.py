"""What reading CloudWatch costs: requests, metrics requested, processor time and memory."""
