"""Positions that satisfy constraints: nearest ones, and motion along them."""
