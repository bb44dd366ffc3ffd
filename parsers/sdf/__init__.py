"""SDFormat."""
