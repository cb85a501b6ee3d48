"""The second level of the embedded store: what each minute of each series was, kept for longer than its samples."""
