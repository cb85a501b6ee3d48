"""Text that is read as numbers, or written as Go writes it."""
