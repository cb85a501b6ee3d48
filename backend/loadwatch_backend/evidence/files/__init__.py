"""Files that are kept with a run."""
