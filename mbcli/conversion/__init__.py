"""Conversion of a model to another format, proved by comparing the plants that both files give."""
