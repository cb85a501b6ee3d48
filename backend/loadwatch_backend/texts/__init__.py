"""What people read of the server, in every language: one module for each subject, `Words` for each text."""
