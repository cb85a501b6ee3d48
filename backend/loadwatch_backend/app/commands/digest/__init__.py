"""`loadwatch digest`: files of a server's own, put together on the command line, without a server of ours."""
