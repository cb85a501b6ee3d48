"""Sockets: queues, ports, and connections that are not kept."""
