"""What can run out, one file each; `findings.registry` lists them."""
