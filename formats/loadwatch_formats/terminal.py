"""Texts from outside for a terminal."""


def terminal_text(text: str) -> str:
    """Without what a terminal would obey or what turns the direction of writing; lines and tabs stay."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else f"\\x{ord(sign):02x}" for sign in text)
