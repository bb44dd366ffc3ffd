"""An acrobot swings up with least effort: CasADi and Ipopt with functions that `mbcli codegen` wrote.

    mbcli codegen docs/examples/acrobot.urdf --functions forward_dynamics --to casadi -o acrobot_code
    python docs/examples/codegen/swing_up.py acrobot_code acrobot_plan.csv

Direct collocation by the trapezoidal rule (Betts 2010). The plan is a table of the
motion and the effort.
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

DURATION, INTERVALS, LIMIT = 4.0, 160, 15.0  # [s], and [N m] of the motor at the elbow


def swing_up(forward_dynamics):
    """Times (N + 1,), states [q, v] (N + 1, 4) and efforts (N + 1,) from hanging to standing."""
    h = DURATION / INTERVALS
    problem = ca.Opti()
    x, u = problem.variable(4, INTERVALS + 1), problem.variable(1, INTERVALS + 1)

    def rates(k):
        return ca.vertcat(x[2:, k], forward_dynamics(x[:2, k], x[2:, k], ca.vertcat(0.0, u[k])))

    for k in range(INTERVALS):
        problem.subject_to(x[:, k + 1] == x[:, k] + 0.5 * h * (rates(k) + rates(k + 1)))
    problem.subject_to(x[:, 0] == 0.0)
    problem.subject_to(x[:, -1] == ca.vertcat(np.pi, 0.0, 0.0, 0.0))
    problem.subject_to(problem.bounded(-LIMIT, u, LIMIT))
    problem.minimize(h * ca.sumsqr(u))
    time = np.linspace(0.0, DURATION, INTERVALS + 1)
    problem.set_initial(x[0, :], np.pi * time / DURATION)
    problem.set_initial(x[1, :], np.sin(2.0 * np.pi * time / DURATION))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = problem.solve()
    print(f"{solution.stats()['iter_count']} iterations, effort {solution.value(problem.f):.4g} N^2 m^2 s")
    return time, solution.value(x).T, solution.value(u)


def main(folder, path):
    names = {}
    exec(next(Path(folder).glob("*.py")).read_text(), names)
    time, x, u = swing_up(names["forward_dynamics"]())
    print(f"at the end {np.round(x[-1], 6) + 0.0}, at most {np.abs(u).max():.3g} N m")
    head = ",".join(["time", *names["POSITIONS"], *names["VELOCITIES"], "effort"])
    np.savetxt(path, np.column_stack([time, x, u]), delimiter=",", header=head, comments="", fmt="%.9g")


if __name__ == "__main__":
    main(*sys.argv[1:])
