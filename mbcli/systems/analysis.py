"""Simulation, under the names of pydrake.systems.analysis."""

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.systems.simulator import (
    ApplySimulatorConfig,
    ExtractSimulatorConfig,
    GetIntegrationSchemes,
    InitializeParams,
    PrintSimulatorStatistics,
    ResetIntegratorFromFlags,
    Simulator,
    SimulatorStatus,
)

Simulator_ = ScalarTemplate(Simulator)

__all__ = [
    "ApplySimulatorConfig",
    "ExtractSimulatorConfig",
    "GetIntegrationSchemes",
    "InitializeParams",
    "PrintSimulatorStatistics",
    "ResetIntegratorFromFlags",
    "Simulator",
    "SimulatorConfig",
    "SimulatorStatus",
    "Simulator_",
]
