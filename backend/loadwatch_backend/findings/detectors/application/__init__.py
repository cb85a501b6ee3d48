"""The application itself, beside its pool and its process."""
