"""The mass matrix over the range of a joint: its least and largest eigenvalue."""

import numpy as np

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

plant = MultibodyPlant(time_step=0.0)
Parser(plant).AddModels("sample_models/double_pendulum.urdf")
plant.Finalize()
context = plant.CreateDefaultContext()
elbow = plant.GetJointByName("elbow")
for angle in np.linspace(0.0, np.pi, 5):
    elbow.set_angle(context, angle)
    least, largest = np.linalg.eigvalsh(plant.CalcMassMatrix(context))
    print(f"elbow {angle:5.2f} rad: eigenvalues {least:.4f} and {largest:.4f} kg m^2")
