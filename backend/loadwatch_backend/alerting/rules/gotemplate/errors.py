"""What can go wrong with a template."""


class TemplateError(Exception):
    """The template cannot be read, or cannot be expanded with these values."""
