"""Signals of CloudWatch and of what AWS says of its resources."""
