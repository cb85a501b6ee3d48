"""Requests by route, from the access log of any web server or load balancer."""
