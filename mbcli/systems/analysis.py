"""Simulation, under the names of pydrake.systems.analysis."""

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.systems.simulator import ApplySimulatorConfig, Simulator

__all__ = ["ApplySimulatorConfig", "Simulator", "SimulatorConfig"]
