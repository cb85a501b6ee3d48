"""What people say of findings: confirmed, rejected, muted."""
