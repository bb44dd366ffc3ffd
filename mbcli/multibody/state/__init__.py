"""What a context holds: time, q, v, parameters and inputs of a plant, and results computed from them."""
