"""Settings of plants, scenes and simulators."""
