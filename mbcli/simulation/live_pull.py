"""LivePull: what a page does to a run that it shows, at the ticks of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.fields.body_poses import body_poses
from mbcli.log.fields.kept_contacts import KeptContacts
from mbcli.models.units import coordinate_units
from mbcli.multibody.stepping.inputs import LinkForce
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable
from mbcli.pictures.live_run import Control
from mbcli.pictures.model_scene import scene_of
from mbcli.pictures.scene import drawn_forces, moving_bodies
from mbcli.simulation.control.beside import Beside
from mbcli.simulation.earlier_run import WATCHED_ALONE
from mbcli.simulation.effort_limits import EffortLimits
from mbcli.simulation.recording import logged_plant

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector3
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.pictures.live_run import Drag, LiveRun
    from mbcli.simulation.acted_run import ActedRun

NAME, ALONE = WATCHED_ALONE.split("_")  # of what the controller keeps in checkpoints
STIFFNESS = 15.0  # [rad/s] with which a pulled body would swing, critically damped
SPAN = 3.0  # of an input without a limit, relative to what carries the weight
LEAST_SPAN = 1.0  # [N m or N]
REACH = np.pi  # [rad or m] about the start, of a target without limits


class LivePull:
    """Acts in a run as its page asks.

    Args:
        run: prepared up to here. live: of the page.

    Attributes:
        controller: the Beside of the run.
        is_alone: whether the run has no other controller.
        acted: whether somebody pulled or moved a slider.
    """

    def __init__(self, run: ActedRun, live: LiveRun) -> None:
        plant = self._plant = run.plant
        self._run, self._live, self.acted = run, live, False
        self._seen = plant.CreateDefaultContext()
        self._seen.state.parameters = run.context.state.parameters.copy()
        self._seen.state.parameters_current = False
        q = plant.GetPositions(run.context)
        self._scene = scene_of(run.loaded, q)
        self._moving = moving_bodies(self._scene)
        self._bodies = logged_plant(plant).body_of_geometry if plant.meets_contact() else np.zeros(0, dtype=int)
        bodies = [int(body.index()) for body in plant.elements.bodies if self._moving[int(body.index())]]
        self._forces = {k: LinkForce(k, np.zeros(3), np.zeros(6), -np.inf, np.inf) for k in bodies}
        self._names = {name: k for k, name in enumerate(plant.GetActuatorNames())}
        self._rows = {plant.GetActuatorNames()[int(k)]: i for i, k in enumerate(plant.model.pd_actuator)}
        self._limits = EffortLimits(plant, run.given["effort_limits"])
        self._mass: tuple[Any, float, float] = (None, 0.0, 0.0)  # of what is pulled: [kg m^2] and [kg]
        live.begin(self._scene, self._controls(q), run.context.get_time())
        given = run.given["effort_limits"]
        forces, kept = list(self._forces.values()), {ALONE: np.zeros(1)} if run.controller is None else {}
        self.is_alone = run.controller is None
        self.controller = Beside(NAME, plant, run.controller, run.efforts_at, given, self._act, forces, kept)

    def _controls(self, q: FloatArray) -> list[Control]:
        plant = self._plant
        position_units, _, units = coordinate_units(plant)
        lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        limits, weight = plant.GetEffortUpperLimits(), self._efforts_of_weight(q)
        found = []
        for name, k in self._names.items():
            if name in self._rows:
                dof = plant.model.dof_q[plant.model.actuator_dof[k]]
                low = lower[dof] if np.isfinite(lower[dof]) else q[dof] - REACH
                high = upper[dof] if np.isfinite(upper[dof]) else q[dof] + REACH
                found.append(Control(name, "target", position_units[dof], float(low), float(high), float(q[dof])))
            else:
                span = float(limits[k]) if np.isfinite(limits[k]) else max(SPAN * weight[k], LEAST_SPAN)
                found.append(Control(name, "input", units[k], -span, span, 0.0))
        return found

    def _efforts_of_weight(self, q: FloatArray) -> FloatArray:
        """(nu,) by size."""
        plant = self._plant
        plant.SetPositions(self._seen, q)
        plant.SetVelocities(self._seen, np.zeros(plant.num_velocities()))
        tau = np.abs(plant.CalcGravityGeneralizedForces(self._seen))
        dofs = plant.model.actuator_dof
        found = np.zeros(len(self._names))
        found[: len(dofs)] = tau[dofs]
        return found

    def _act(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """At a tick."""
        live = self._live
        if live.is_due():
            self._show(time, q)
        live.wait(time, self._run.should_stop, lambda: self._show(time, q))
        for name, value in list(live.values["input"].items()):
            u[self._names[name]] += value
            self.acted = True
        u[:] = self._limits.cut(u)
        for name, value in list(live.values["target"].items()):
            desired[self._rows[name]] = value, 0.0
            self.acted = True
        for force in self._forces.values():
            force.force[:] = 0.0
        drag = live.drag
        if drag is not None and drag.body in self._forces:
            self._forces[drag.body].force[:] = self._pull(drag, q, v)
            self.acted = True

    def _show(self, time: float, q: FloatArray) -> None:
        self._plant.SetPositions(self._seen, q)
        self._live.show(time, body_poses(self._plant, self._seen))

    def _pull(self, drag: Drag, q: FloatArray, v: FloatArray) -> FloatArray:
        """(6,) about the origin of the body, in World: a damped spring from a point of it to the pointer.

        What turns about the point is damped too, so that a body comes to rest.
        """
        plant, context = self._plant, self._seen
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        body = plant.elements.bodies[drag.body]
        X_WB = plant.EvalBodyPoseInWorld(context, body)
        arm = X_WB.rotation().matrix() @ drag.point
        W, V = plant.world_frame(), JacobianWrtVariable.kV
        J = plant.CalcJacobianSpatialVelocity(context, V, body.body_frame(), drag.point, W, W)
        key = drag.body, tuple(drag.point)
        if self._mass[0] != key:
            self._mass = key, self._inertia_of(J[:3]), self._inertia_of(J[3:])
        error: Vector3 = drag.target - (X_WB.translation() + arm)
        turning, moving = self._mass[1:]
        force = moving * STIFFNESS * (STIFFNESS * error - 2.0 * (J[3:] @ v))
        return np.concatenate([np.cross(arm, force) - turning * STIFFNESS * (J[:3] @ v), force])

    def _inertia_of(self, J: FloatArray) -> float:
        """[kg or kg m^2] of a motion with a Jacobian (3, nv), on average over directions in which it can be."""
        mobility = J @ np.linalg.pinv(self._plant.CalcMassMatrix(self._seen)) @ J.T
        trace = float(np.trace(mobility))
        return 3.0 / trace if trace > 0.0 else 0.0

    def see(self, samples: Samples) -> None:
        """Contacts and elastic bodies of the last row."""
        if not len(samples.time):
            return
        vertices = np.concatenate([x[-1] for x in samples.deformables]) if samples.deformables else None
        points, forces = np.zeros((0, 3)), np.zeros((0, 3))
        if self._live.shows_contacts and samples.contacts is not None:
            last = np.arange(len(samples.time)) == len(samples.time) - 1
            kept = KeptContacts(samples.contacts, last, bool(self._plant.asks_for_surfaces()))
            points = kept.values("position")
            A, B = self._bodies[kept.values("solid")].T
            forces = drawn_forces(self._moving, A, B, -kept.values("force"))
        self._live.see(points, forces, vertices)
