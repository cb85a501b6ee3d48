"""How often a forecast's interval holds the truth, on systems whose truth is known."""
