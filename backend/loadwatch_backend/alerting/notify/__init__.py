"""Notifications: who is told of what, when, and proof that they were: routes, silences, groups, outbox, senders."""
