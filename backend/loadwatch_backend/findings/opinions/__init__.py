"""What people mute, and what they mark wrong."""
