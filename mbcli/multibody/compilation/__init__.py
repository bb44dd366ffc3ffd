"""From a plant to the arrays of the engine."""
