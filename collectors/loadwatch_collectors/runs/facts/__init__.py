"""What is known of a run before it begins: who, where, with which command, without secrets."""
