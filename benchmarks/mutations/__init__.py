"""Faults that are put into a copy of the program, and how many of them the quick set of tests notices."""
