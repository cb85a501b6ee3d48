"""Commands for samples: import, export, what the store holds."""
