"""The name of what the collector `pprof` sends: that a process can be asked for profiles, and for which."""

SOURCE = "profile_source_info"
