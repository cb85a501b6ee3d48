"""Changes of what agents have discovered (a failover, a scale-out, a deploy) become annotations by themselves."""
