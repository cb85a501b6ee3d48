"""What detectors ask of a window: the load, pools, databases, hosts, equals; and how it is shown."""
