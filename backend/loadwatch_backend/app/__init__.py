"""The application: what is wired to what, and the document of its API."""
