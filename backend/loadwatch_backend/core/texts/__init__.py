"""What people read of the server, in every language: one message file for each subject."""
