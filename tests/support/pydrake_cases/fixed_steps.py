"""How many fixed steps lead to a time, and when the last but one ends."""

from pydrake.all import (
    ApplySimulatorConfig,
    ConstantVectorSource,
    DiagramBuilder,
    Integrator,
    LogVectorOutput,
    Simulator,
    SimulatorConfig,
)

for step, end in ((0.1, 1.0), (0.01, 10.0), (0.02, 3.0)):
    builder = DiagramBuilder()
    system = builder.AddSystem(Integrator(1))
    source = builder.AddSystem(ConstantVectorSource([1.0]))
    builder.Connect(source.get_output_port(), system.get_input_port())
    log = LogVectorOutput(system.get_output_port(), builder)
    simulator = Simulator(builder.Build())
    ApplySimulatorConfig(SimulatorConfig(max_step_size=step, use_error_control=False), simulator)
    simulator.AdvanceTo(end)
    times = log.FindLog(simulator.get_context()).sample_times()
    print(step, end, len(times), simulator.get_num_steps_taken(), float(times[-2]), float(times[-1]))
