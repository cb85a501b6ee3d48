"""What says why a run was as it was: files, routes, statements, profiles, and what follows from them together."""
