"""Labelled cases of systems that run out of something, played for real and recorded: what findings are judged by."""
