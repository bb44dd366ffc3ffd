"""Read a log in five lines, and plot-ready arrays from it."""

import numpy as np

import mbcli.log
from mbcli.simulation import simulate

simulate("sample_models/double_pendulum.urdf", until=1.0, start={"elbow": 1.0}, contact=False, log="reading.h5").close()

with mbcli.log.open("reading.h5") as log:
    energy = log.energy.sum(axis=1)
    print(
        f"{log.row_count} rows, elbow between {log.column('elbow').min():.3f} and {log.column('elbow').max():.3f} rad"
    )
    print(f"energy changes by {np.ptp(energy):.2g} J")
