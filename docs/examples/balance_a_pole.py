"""A linear-quadratic regulator for a cart with a pole: linearize about the upright state, solve Riccati's equation."""

import json
import subprocess
import sys

import numpy as np
from scipy.linalg import solve_continuous_are

command = [
    sys.executable,
    "-m",
    "mbcli",
    "linearize",
    "sample_models/cart_pole.sdf",
    "--at",
    f"hinge={np.pi}",
    "--json",
]
model = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
A, B = np.array(model["A"]), np.array(model["B"])
Q, R = np.eye(len(A)), np.eye(B.shape[1])
K = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))
poles = np.linalg.eigvals(A - B @ K)
print("gain:", np.round(K, 3))
print("poles of the closed loop:", np.round(poles, 3))
assert (poles.real < 0).all()
