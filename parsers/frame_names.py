"""Names of frames that have a meaning of their own."""

WORLD = "world"
MODEL = "__model__"
SEPARATOR = "::"


def is_reserved(name):
    """Names that a file must not give to its elements: world, and those that start and end with two
    underscores."""
    return name == WORLD or (len(name) >= 4 and name.startswith("__") and name.endswith("__"))
