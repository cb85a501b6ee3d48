"""Server-sent events that tell a page when new samples are stored."""
