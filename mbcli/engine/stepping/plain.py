"""Stand-ins of steps for what few models have, as smooth/plain.py."""


def respond_to_elements(m, d, c, w, h):
    pass


def resist_under_constraints(m, d, c, w):
    pass
