"""Simulating a plant in blocks of samples, with its inputs."""

from mbcli.simulation.run import Input, Run, Samples, constant_input

__all__ = ["Input", "Run", "Samples", "constant_input"]
