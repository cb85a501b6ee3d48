"""The statements of a run: one table, whichever database they were sent to and whoever counted them."""
