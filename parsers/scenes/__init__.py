"""YAML: directives, scenarios, settings of plants, constraints."""
