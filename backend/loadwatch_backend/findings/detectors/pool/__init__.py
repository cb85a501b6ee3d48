"""The application's connection pool."""
