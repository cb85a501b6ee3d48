"""Access logs of web servers: lines, the routes that their paths stand for, and what is counted of each."""
