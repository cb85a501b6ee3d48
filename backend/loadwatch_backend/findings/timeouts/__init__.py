"""The ladder of timeouts: which layer of a request's path gives up when, and where that order does harm."""
