"""Numbers from text."""
