"""Reads PostgreSQL servers, their own views and settings."""
