"""What a run means: figures, steady window, thresholds and verdict, headroom reached, reconciliation."""
