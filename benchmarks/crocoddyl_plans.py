"""Problems of benchmarks/optimal_control.py by crocoddyl, in a Python that has it: JSON in, JSON out."""

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


class Crocoddyl:
    """A problem as benchmarks/optimal_control.py asks it."""

    def __init__(self, case):
        self.case = case
        free = (pin.JointModelFreeFlyer(),) if case["floats"] else ()
        self.model = model = pin.buildModelFromUrdf(case["path"], *free)
        state = crocoddyl.StateMultibody(model)
        for name, inertia in zip(case["driven"], case["armature"], strict=True):
            model.armature[model.joints[model.getJointId(name)].idx_v] = inertia
        joints = [name for name in model.names[1:] if name != "root_joint"]
        self.order = [case["driven"].index(name) for name in joints if name in case["driven"]]  # its efforts in ours
        full = crocoddyl.ActuationModelFloatingBase if case["floats"] else crocoddyl.ActuationModelFull
        actuation = full(state)
        # it has an effort at each joint: those that are not driven have limits of 0
        self.limits = np.array([case["limit"] if name in case["driven"] else 0.0 for name in joints])
        running = self._step(state, actuation, end=False)
        last = self._step(state, actuation, end=True)
        problem = crocoddyl.ShootingProblem(self._start(), [running] * case["knots"], last)
        self.solver = crocoddyl.SolverBoxDDP(problem)
        self.solver.th_stop = 1e-7
        self.problem = problem
        u = np.zeros((case["knots"], actuation.nu))
        u[:, self.limits > 0.0] = np.array(case["guess"])[:, self.order]
        self.guess = problem.rollout(list(u)), list(u)

    def _start(self):
        q = pin.neutral(self.model)
        for name, value in self.case["start"].items():
            at = self.model.joints[self.model.getJointId(name)]
            q[at.idx_q : at.idx_q + at.nq] = [np.cos(value), np.sin(value)] if at.nq == 2 else [value]
        return np.concatenate([q, np.zeros(self.model.nv)])

    def _step(self, state, actuation, end):
        case, model, nu = self.case, self.model, actuation.nu
        weights = {key: 2.0 * value for key, value in case["weights"].items()}  # its costs are halves of squares
        costs = crocoddyl.CostModelSum(state, nu)
        target, scale = state.zero(), np.zeros(state.ndx)
        for name, value in case["targets"].items():
            at = model.joints[model.getJointId(name)]
            target[at.idx_q : at.idx_q + at.nq] = [np.cos(value), np.sin(value)] if at.nq == 2 else [value]
            scale[at.idx_v] = weights["end" if end else "positions"]
            scale[model.nv + at.idx_v] = weights["end_velocities" if end else "velocities"]
        activation = crocoddyl.ActivationModelWeightedQuad(scale)
        residual = crocoddyl.ResidualModelState(state, target, nu)
        costs.addCost("state", crocoddyl.CostModelResidual(state, activation, residual), 1.0)
        if not end:
            efforts = crocoddyl.ResidualModelControl(state, nu)
            costs.addCost("efforts", crocoddyl.CostModelResidual(state, efforts), weights["efforts"])
        elif case["frame"]:
            name, place = case["frame"]
            residual = crocoddyl.ResidualModelFrameTranslation(state, model.getFrameId(name), np.array(place), nu)
            costs.addCost("place", crocoddyl.CostModelResidual(state, residual), weights["place"])
        motion = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        made = crocoddyl.IntegratedActionModelEuler(motion, 0.0 if end else case["period"])
        made.u_lb, made.u_ub = -self.limits, self.limits
        return made

    def solve(self):
        """The efforts, iterations, processor time [s], and whether it has converged."""
        began = time.process_time()
        converged = self.solver.solve(*self.guess, self.case["iterations"], False)
        spent = time.process_time() - began
        u = np.zeros((self.case["knots"], len(self.order)))
        u[:, self.order] = np.array(self.solver.us)[:, self.limits > 0.0]
        return {
            "u": u.tolist(),
            "iterations": self.solver.iter,
            "seconds": spent,
            "converged": bool(converged),
            "cost": self.solver.cost,
        }


if __name__ == "__main__":
    question = json.load(sys.stdin)
    asked = Crocoddyl(question)
    json.dump([asked.solve() for _ in range(question["rounds"])], sys.stdout)
