"""What can run out, one file for each subject; `findings.registry` lists all detectors."""
