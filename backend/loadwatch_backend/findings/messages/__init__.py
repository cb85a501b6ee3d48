"""What findings say: one file of messages for each subject, English and Japanese beside each other."""
