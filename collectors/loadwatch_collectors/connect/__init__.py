"""What listens on this host, what it seems to be, and the lines of loadwatch.yml that watch it."""
