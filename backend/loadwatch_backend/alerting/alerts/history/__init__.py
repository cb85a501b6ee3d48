"""What alerts did: episodes and their transitions."""
