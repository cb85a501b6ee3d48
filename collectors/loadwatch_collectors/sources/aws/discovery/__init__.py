"""What is there in an account: a file for each service, read by describe calls, and what ties them together."""
