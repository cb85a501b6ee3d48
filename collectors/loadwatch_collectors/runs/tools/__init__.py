"""What `loadwatch run` knows of each load tool, a file each."""
