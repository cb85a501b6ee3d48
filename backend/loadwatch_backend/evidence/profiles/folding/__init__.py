"""What a profile says: functions, trees, differences, labels. Pure, on numpy arrays."""
