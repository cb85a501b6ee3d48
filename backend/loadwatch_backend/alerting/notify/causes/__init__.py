"""What findings have to do with alerts: which one an alert is about, and which alerts follow from another's."""
