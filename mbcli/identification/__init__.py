"""From measured motion to a model file that is right: inertial and friction parameters (docs/how-to/identify.md)."""
