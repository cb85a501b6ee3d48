"""From collectors to the server: the schedule, the spool on disk, and what sends."""
