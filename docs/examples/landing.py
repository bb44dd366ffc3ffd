"""A robot lands on the ground: load, simulate with contact, read the log, plot. Runs as it is, in a notebook too."""

from pathlib import Path

import numpy as np

from mbcli.models import describe
from mbcli.simulation import simulate

SAMPLES = Path.cwd() / "sample_models"  # of a checkout

robot = SAMPLES / "quadruped.urdf"
log = simulate(robot, until=0.2, ground=0.0, start={"quadruped_trunk_z": 0.5}, log="landing.h5", force=True)

height = log.column("quadruped_trunk_z")
contacts = log.contacts()
rows = np.repeat(np.arange(len(log.times)), np.diff(contacts["offset"]))  # the row of each contact
# forces act on body B, of which here every contact has one of the robot's feet
support = np.bincount(rows, weights=contacts["contact/force"][:, 2], minlength=len(log.times))

weight = describe(robot)["total_mass"] * 9.81
print(f"the trunk falls from {height[0]:.3f} to {height.min():.3f} m")
print(f"the ground carries up to {np.abs(support).max():.0f} N of a robot of {weight:.0f} N")
print(f"{log.summary.steps} steps, at most {log.summary.contact['most_contacts']} contacts")

try:
    import matplotlib.pyplot as plt
except ImportError:
    print("no picture: matplotlib is not installed")
else:
    figure, (above, below) = plt.subplots(2, sharex=True)
    above.plot(log.times, height)
    above.set_ylabel("height of the trunk [m]")
    below.plot(log.times, support)
    below.set(xlabel="time [s]", ylabel="force of the ground [N]")
    figure.savefig("landing.png")
log.close()
