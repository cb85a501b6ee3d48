"""One of each kind of thing that is added to Loadwatch, as small as it may be."""
