"""Connections that sources share: kept open between ticks, and never slower than their deadline."""
