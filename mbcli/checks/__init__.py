"""Checking a whole file or scene for a user: reading it, building its models, and reporting as text or SARIF.

A single model is checked while it is read, see `parsers/checks/`.
"""
