"""Benchmarks of mbcli against pydrake, Pinocchio and MuJoCo, measured in the same run: `python -m benchmarks`."""
