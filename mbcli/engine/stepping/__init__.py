"""How time advances: steps of discrete plants, integrators of continuous ones, and the loops around them."""
