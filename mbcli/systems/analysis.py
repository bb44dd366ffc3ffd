"""Simulation, under the names of pydrake.systems.analysis."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.config.simulator_config import SimulatorConfig as SimulatorConfig
    from mbcli.systems.batch_evaluation import (
        BatchEvalTimeDerivatives as BatchEvalTimeDerivatives,
        BatchEvalUniquePeriodicDiscreteUpdate as BatchEvalUniquePeriodicDiscreteUpdate,
    )
    from mbcli.systems.simulator import (
        ApplySimulatorConfig as ApplySimulatorConfig,
        ExtractSimulatorConfig as ExtractSimulatorConfig,
        GetIntegrationSchemes as GetIntegrationSchemes,
        InitializeParams as InitializeParams,
        IntegratorBase as IntegratorBase,
        PrintSimulatorStatistics as PrintSimulatorStatistics,
        ResetIntegratorFromFlags as ResetIntegratorFromFlags,
        Simulator as Simulator,
        Simulator_ as Simulator_,
        SimulatorStatus as SimulatorStatus,
    )
