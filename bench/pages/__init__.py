"""What the pages cost and keep: paint, layout shift, main thread, bytes, accessibility."""
