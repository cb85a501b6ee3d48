"""What the store of samples holds, and where its disk space goes."""
