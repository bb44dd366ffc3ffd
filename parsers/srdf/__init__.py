"""SRDF: which links of a robot are not to collide, and named postures of it."""
