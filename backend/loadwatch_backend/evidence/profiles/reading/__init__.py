"""From the bytes of a profile to one model, whatever made it. Pure, and bounded before anything is unpacked."""
