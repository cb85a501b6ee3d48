"""The file of routes, receivers and times: read, checked, and as it is shown."""
