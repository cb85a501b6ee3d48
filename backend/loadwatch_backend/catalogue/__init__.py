"""What is known of measured things: signals, panels, resources, runbooks."""
