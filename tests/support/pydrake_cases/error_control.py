"""Steps of diagrams under error control: how many, where they end, and what they reach."""

import numpy as np
from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig
from pydrake.systems.framework import DiagramBuilder, LeafSystem
from pydrake.systems.primitives import LogVectorOutput


class Swing(LeafSystem):
    """A fast pendulum, which says nothing but now and then."""

    def __init__(self, period: float):
        LeafSystem.__init__(self)
        self.DeclareStateOutputPort("x", self.DeclareContinuousState(2))
        if period:
            self.DeclarePeriodicPublishEvent(period, 0.0, lambda context: None)

    def DoCalcTimeDerivatives(self, context, derivatives):
        x, v = context.get_continuous_state_vector().CopyToVector()
        derivatives.get_mutable_vector().SetFromVector([v, -50.0 * np.sin(3.0 * x) - 0.1 * v])


for scheme in ("runge_kutta3", "bogacki_shampine3", "runge_kutta5", "explicit_euler"):
    for period, settings in (
        (0.0, {}),
        (0.0, {"max_step_size": 0.01}),
        (0.03, {"accuracy": 1e-3}),
        (0.0, {"accuracy": 1e-2, "max_step_size": 0.5}),
        (0.03, {"max_step_size": 0.01}),
    ):
        builder = DiagramBuilder()
        swing = builder.AddSystem(Swing(period))
        log = LogVectorOutput(swing.get_output_port(), builder)
        simulator = Simulator(builder.Build())
        ApplySimulatorConfig(SimulatorConfig(integration_scheme=scheme, **settings), simulator)
        context = simulator.get_mutable_context()
        context.SetContinuousState([0.5, 0.0])
        simulator.AdvanceTo(0.5)
        print(scheme, simulator.get_num_steps_taken(), context.get_continuous_state_vector().CopyToVector())
        print(log.FindLog(context).num_samples(), log.FindLog(context).sample_times()[:5])
