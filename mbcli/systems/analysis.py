"""Simulation, under the names of pydrake.systems.analysis."""

from mbcli.simulation import ApplySimulatorConfig, Simulator
from mbcli.simulator_config import SimulatorConfig

__all__ = ["ApplySimulatorConfig", "Simulator", "SimulatorConfig"]
