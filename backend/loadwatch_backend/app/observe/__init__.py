"""What the server says of itself: /metrics, /-/healthy, /-/ready."""
