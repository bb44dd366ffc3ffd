"""Energies of systems, copies of contexts, vectors for inputs."""

import numpy as np
from pydrake.common import RandomGenerator
from pydrake.examples import AcrobotPlant, PendulumPlant, QuadrotorPlant, VanDerPolOscillator
from pydrake.lcm import DrakeLcmParams
from pydrake.systems.primitives import Gain, Integrator

for kind in (PendulumPlant, AcrobotPlant, QuadrotorPlant, VanDerPolOscillator):
    system = kind()
    context = system.CreateDefaultContext()
    context.SetContinuousState(0.1 * np.arange(1, context.num_continuous_states() + 1))
    print(kind.__name__, system.EvalPotentialEnergy(context), system.CalcKineticEnergy(context))
    system.SetRandomContext(context, RandomGenerator())
    print(context.get_continuous_state_vector().CopyToVector())
for system in (Gain(2.0, 1), Integrator(1)):
    context = system.CreateDefaultContext()
    context.SetTime(2.0)
    system.get_input_port().FixValue(context, [3.0])
    copy = context.Clone()
    context.SetTime(1.0)
    system.get_input_port().FixValue(context, [4.0])
    context.DisableCaching()
    context.SetAllCacheEntriesOutOfDate()
    print(
        copy.get_time(), system.get_input_port().Eval(copy), system.AllocateInputVector(system.get_input_port()).size()
    )
print(DrakeLcmParams(channel_suffix="_1").channel_suffix, DrakeLcmParams().defer_initialization)
