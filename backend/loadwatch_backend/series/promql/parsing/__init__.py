"""From text to a tree, with bounds."""
