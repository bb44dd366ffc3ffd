"""Constraints between links: their equations, accelerations under them, and rank."""
