"""Checking a whole file or scene for a user: reading it, building what it names, and reporting as text or SARIF.

What a single model may say is checked while it is read, see `parsers/checks/`.
"""
