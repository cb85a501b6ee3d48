"""Who may do what: tokens today, users and roles later."""
