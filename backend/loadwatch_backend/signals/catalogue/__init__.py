"""Every signal and resource, as data: one file a group. Adding a chart is one entry here and nothing elsewhere."""
