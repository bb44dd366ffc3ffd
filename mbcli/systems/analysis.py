"""Simulation, under the names of pydrake.systems.analysis."""

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.systems.batch_evaluation import BatchEvalTimeDerivatives, BatchEvalUniquePeriodicDiscreteUpdate
from mbcli.systems.simulator import (
    ApplySimulatorConfig,
    ExtractSimulatorConfig,
    GetIntegrationSchemes,
    InitializeParams,
    IntegratorBase,
    PrintSimulatorStatistics,
    ResetIntegratorFromFlags,
    Simulator,
    SimulatorStatus,
)

Simulator_ = ScalarTemplate(Simulator)

__all__ = [
    "ApplySimulatorConfig",
    "BatchEvalTimeDerivatives",
    "BatchEvalUniquePeriodicDiscreteUpdate",
    "ExtractSimulatorConfig",
    "GetIntegrationSchemes",
    "InitializeParams",
    "IntegratorBase",
    "PrintSimulatorStatistics",
    "ResetIntegratorFromFlags",
    "Simulator",
    "SimulatorConfig",
    "SimulatorStatus",
    "Simulator_",
]
