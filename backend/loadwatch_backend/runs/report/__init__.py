"""A run on one page that needs no server: HTML, Markdown, JSON."""
