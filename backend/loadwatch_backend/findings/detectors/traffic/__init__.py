"""What stands between the load and the system."""
