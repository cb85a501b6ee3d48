"""Alerts: rules evaluated as samples arrive, states that survive, and each transition handed on in one transaction."""
