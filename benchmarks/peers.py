"""Adapters: the same models and states in pydrake, Pinocchio and MuJoCo, with results in the coordinates of mbcli.

All of them get the URDF without geometry. Each adapter is made only where its package is installed.
"""

import importlib.util
import logging
from functools import cached_property

import numpy as np
from lxml import etree

from benchmarks.own import Call, plant_call
from benchmarks.plant_calls import PlantSide

MODULES = {"Drake": "pydrake", "Pinocchio": "pinocchio", "MuJoCo": "mujoco"}


def installed(peer):
    """Whether the package of a peer can be imported."""
    return importlib.util.find_spec(MODULES[peer]) is not None


def urdf_without_geometry(path):
    """The text of a URDF file without its visual and collision elements."""
    tree = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True))
    for element in tree.xpath("//visual|//collision"):
        element.getparent().remove(element)
    return etree.tostring(tree).decode()


def _floating_base(case):
    """The name of the only floating body of a case, or None."""
    bodies = [case.plant.get_body(i) for i in case.plant.GetFloatingBaseBodies()]
    if len(bodies) > 1 or (bodies and bodies[0].floating_positions_start() != 0):
        raise ValueError("the adapters know at most one floating body, whose coordinates come first")
    return bodies[0].name() if bodies else None


def _rotation(quaternion):
    """R (3, 3) of a unit quaternion w, x, y, z."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class Drake:
    """pydrake: the same coordinates as mbcli."""

    def __init__(self, case, text, weld=None):
        from pydrake import math
        from pydrake.multibody import math as spatial, tree
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.systems.analysis import Simulator

        self._plant_type, self._tree, self._simulator_type = MultibodyPlant, tree, Simulator
        self._modules = tree, math, spatial
        self._case, self._text, self._weld = case, text, weld

    def _plant(self, time_step):
        from pydrake.multibody.parsing import Parser

        logging.getLogger("drake").setLevel(logging.ERROR)
        plant = self._plant_type(time_step)
        Parser(plant).AddModelsFromString(self._text, "urdf")
        if self._weld:
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(self._weld))
        for index in plant.GetJointIndices():  # limits act as springs in a discrete plant
            joint = plant.get_mutable_joint(index)
            n = joint.num_positions()
            joint.set_position_limits(np.full(n, -np.inf), np.full(n, np.inf))
        plant.Finalize()
        return plant

    @cached_property
    def _continuous_plant(self):
        return self._plant(0.0)

    def plant_call(self, calculation, new_state):
        return plant_call(PlantSide(self._continuous_plant, self._case, *self._modules), calculation, new_state)

    def engine_call(self, calculation):
        """CalcInverseDynamics with gravity among the forces, CalcMassMatrix; there is no call for the third."""
        if calculation == "aba":
            return None
        plant, case = self._plant(0.0), self._case
        context, forces = plant.CreateDefaultContext(), self._tree.MultibodyForces(plant)
        plant.SetPositions(context, case.q[0])
        plant.CalcForceElementsContribution(context, forces)  # at rest: gravity without damping
        q_v = np.concatenate([case.q[0], case.v[0]])

        def rnea():
            plant.SetPositionsAndVelocities(context, q_v)
            return plant.CalcInverseDynamics(context, case.vdot, forces)

        def crba():
            plant.SetPositions(context, case.q[0])
            return plant.CalcMassMatrix(context)

        return Call({"rnea": rnea, "crba": crba}[calculation])

    def steps_call(self, time_step, steps):
        plant = self._plant(time_step)
        return Call(self._motion(plant, self._simulator_type(plant), steps * time_step))

    def continuous_motion(self, accuracy, duration, scheme="runge_kutta3"):
        """A function to [q; v] at the end of a motion by an integrator with error control."""
        from pydrake.systems.analysis import ApplySimulatorConfig, SimulatorConfig

        simulator = self._simulator_type(self._continuous_plant)
        config = SimulatorConfig(integration_scheme=scheme, accuracy=accuracy, max_step_size=1.0)
        ApplySimulatorConfig(config, simulator)
        return self._motion(self._continuous_plant, simulator, duration)

    def _motion(self, plant, simulator, duration):
        """A function to [q; v] after a duration from the first state, without actuation."""
        context = simulator.get_mutable_context()
        if plant.num_actuators():
            plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
        q_v = np.concatenate([self._case.q[0], self._case.v[0]])

        def run():
            context.SetTime(0.0)
            plant.SetPositionsAndVelocities(context, q_v)
            simulator.Initialize()
            simulator.AdvanceTo(duration)
            return plant.GetPositionsAndVelocities(context)

        return run


class Pinocchio:
    """Pinocchio: other order of joints; a floating base has its position first, x y z w, and a body-fixed velocity."""

    def __init__(self, case, text, weld=None):
        import pinocchio

        self._case, self._pin = case, pinocchio
        self._floating = _floating_base(case) is not None
        root = (pinocchio.JointModelFreeFlyer(),) if self._floating else ()
        self._model = pinocchio.buildModelFromXML(text, *root)
        self._data = self._model.createData()
        for theirs, ours in self._joints():
            self._model.armature[theirs.idx_v] = case.armature[ours.velocity_start()]

    def _joints(self):
        """(joint of Pinocchio, joint of mbcli) for all joints of one degree of freedom."""
        for k in range(2 if self._floating else 1, self._model.njoints):
            yield self._model.joints[k], self._case.plant.GetJointByName(self._model.names[k])

    def _positions(self, q):
        result = np.zeros(self._model.nq)
        if self._floating:
            result[:7] = q[[4, 5, 6, 1, 2, 3, 0]]
        for theirs, ours in self._joints():
            angle = q[ours.position_start()]
            result[theirs.idx_q : theirs.idx_q + theirs.nq] = (
                angle if theirs.nq == 1 else (np.cos(angle), np.sin(angle))
            )
        return result

    def _velocity_map(self, q):
        """T (nv, nv) at q: velocities of Pinocchio from those of mbcli."""
        T = np.zeros((self._model.nv, self._model.nv))
        if self._floating:
            T[0:3, 3:6] = T[3:6, 0:3] = _rotation(q[:4]).T
        for theirs, ours in self._joints():
            T[theirs.idx_v, ours.velocity_start()] = 1.0
        return T

    def _bias(self, k):
        """What the turning of the base adds to its body-fixed acceleration, at state k."""
        return self._bias_at(self._case.q[k], self._case.v[k])

    def _bias_at(self, q, v):
        result = np.zeros(self._model.nv)
        if self._floating:
            result[0:3] = -_rotation(q[:4]).T @ np.cross(v[:3], v[3:6])
        return result

    def _state(self, k):
        """q, v, vdot of state k, and the map of velocities there."""
        T = self._velocity_map(self._case.q[k])
        return self._positions(self._case.q[k]), T @ self._case.v[k], T @ self._case.vdot + self._bias(k), T

    def engine_call(self, calculation):
        pin, model, data = self._pin, self._model, self._data
        q, v, a, T = self._state(0)
        if calculation == "rnea":
            return Call(lambda: pin.rnea(model, data, q, v, a), lambda tau: T.T @ tau)
        if calculation == "crba":
            return Call(lambda: pin.crba(model, data, q), lambda M: T.T @ (np.triu(M) + np.triu(M, 1).T) @ T)
        tau = pin.rnea(model, data, q, v, a).copy()
        return Call(lambda: pin.aba(model, data, q, v, tau), lambda vdot: T.T @ (vdot - self._bias(0)))

    def constrained_call(self, standing, derivatives=False):
        """constraintDynamics with a 6D contact at each foot of a Standing; or that and all of its derivatives."""
        pin, model, data = self._pin, self._model, self._data
        q, T = self._positions(standing.q), self._velocity_map(standing.q)
        v, tau = T @ standing.v, np.linalg.solve(T.T, standing.tau)
        pin.framesForwardKinematics(model, data, q)
        models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for name in standing.feet:
            number = model.getFrameId(name)
            frame = model.frames[number]
            place = frame.parentJoint, frame.placement, 0, data.oMf[number]
            models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *place, pin.LOCAL))
            datas.append(models[-1].createData())
        pin.initConstraintDynamics(model, data, models, datas)
        if derivatives:

            def differentiate():
                pin.constraintDynamics(model, data, q, v, tau, models, datas)
                pin.computeConstraintDynamicsDerivatives(model, data, models, datas)
                return data.ddq_dtau

            T_inverse = np.linalg.inv(T)
            return Call(differentiate, lambda by_tau: T_inverse @ by_tau @ T_inverse.T)
        bias = self._bias_at(standing.q, standing.v)
        return Call(
            lambda: pin.constraintDynamics(model, data, q, v, tau, models, datas),
            lambda vdot: np.linalg.solve(T, vdot - bias),
        )

    def motion(self, time_step, steps):
        """A function to q at the end of a motion by the classical Runge-Kutta method, with damping."""
        pin, model, data = self._pin, self._model, self._data
        start, speed, _, _ = self._state(0)
        damping = np.zeros(model.nv)
        for theirs, ours in self._joints():
            damping[theirs.idx_v] = ours.default_damping()

        def rate(q, v):
            return pin.aba(model, data, q, v, -damping * v)

        def run():
            q, v, h = start.copy(), speed.copy(), time_step
            for _ in range(steps):
                a1 = rate(q, v).copy()
                v2 = v + 0.5 * h * a1
                a2 = rate(pin.integrate(model, q, 0.5 * h * v), v2).copy()
                v3 = v + 0.5 * h * a2
                a3 = rate(pin.integrate(model, q, 0.5 * h * v2), v3).copy()
                v4 = v + h * a3
                a4 = rate(pin.integrate(model, q, h * v3), v4)
                q = pin.integrate(model, q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
                v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            return self._own_positions(q)

        return run

    def _own_positions(self, q):
        """q in the order of mbcli; angles that are kept as unit vectors are nearest to zero."""
        result = np.zeros(self._case.plant.num_positions())
        if self._floating:
            result[[4, 5, 6, 1, 2, 3, 0]] = q[:7]
        for theirs, ours in self._joints():
            at = theirs.idx_q
            result[ours.position_start()] = q[at] if theirs.nq == 1 else np.arctan2(q[at + 1], q[at])
        return result

    def inverse_dynamics_of_states(self, count):
        """The same call in a Python loop; returns the last tau."""
        pin, model, data = self._pin, self._model, self._data
        states = [self._state(k) for k in range(len(self._case.q))]

        def run():
            for k in range(count):
                q, v, a, _ = states[k % len(states)]
                tau = pin.rnea(model, data, q, v, a)
            return tau

        return Call(run, lambda tau: states[(count - 1) % len(states)][3].T @ tau)


class MuJoCo:
    """MuJoCo without contact, limits and friction: same scheme as the discrete plant, implicit in the damping."""

    def __init__(self, case, text, weld=None):
        import mujoco

        self._case, self._mujoco = case, mujoco
        base = _floating_base(case)
        if base is not None:
            joint = f'<joint name="base" type="floating"><parent link="world"/><child link="{base}"/></joint>'
            text = text.replace("</robot>", f'<link name="world"/>{joint}</robot>')
        model = mujoco.MjModel.from_xml_string(text)
        flags = mujoco.mjtDisableBit
        model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
        self._model, self._data = model, mujoco.MjData(model)
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._floating = base is not None
        q, v = case.q[0], case.v[0]
        self._dof = np.arange(model.nv)  # velocity of mbcli for each one of MuJoCo
        if self._floating:
            self._R = _rotation(q[:4])
            self._q[:3], self._q[3:7] = q[4:7], q[:4]
            self._v[:3], self._v[3:6] = v[3:6], self._R.T @ v[:3]
        for k in range(model.njnt):
            joint = model.joint(k)
            if joint.name == "base":
                continue
            ours = case.plant.GetJointByName(joint.name)
            dof = int(joint.dofadr[0])
            self._dof[dof] = ours.velocity_start()
            self._q[joint.qposadr[0]] = q[ours.position_start()]
            self._v[dof] = v[ours.velocity_start()]
            model.dof_armature[dof] = case.armature[ours.velocity_start()]

    def _set_state(self):
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._q, self._v

    def steps_call(self, time_step, steps):
        self._model.opt.timestep = time_step
        step, model, data = self._mujoco.mj_step, self._model, self._data

        def run():
            self._set_state()
            step(model, data, nstep=steps)
            return data.qpos

        return Call(run)

    def motion(self, time_step, steps, integrator):
        """A function to q at the end of a motion by one of its integrators (mjtIntegrator)."""
        model, data = self._model, self._data

        def run():
            model.opt.timestep, model.opt.integrator = time_step, integrator
            self._set_state()
            self._mujoco.mj_step(model, data, nstep=steps)
            return self._own_positions(data.qpos)

        return run

    def _own_positions(self, qpos):
        """qpos in the order of mbcli."""
        result = np.zeros(self._case.plant.num_positions())
        if self._floating:
            result[:4], result[4:7] = qpos[3:7], qpos[:3]
        for k in range(self._model.njnt):
            joint = self._model.joint(k)
            if joint.name != "base":
                ours = self._case.plant.GetJointByName(joint.name)
                result[ours.position_start()] = qpos[joint.qposadr[0]]
        return result

    def acceleration_call(self):
        def run():
            self._set_state()
            self._mujoco.mj_forward(self._model, self._data)
            return self._data.qacc

        def read(acceleration):
            result = np.zeros(self._model.nv)
            result[self._dof] = acceleration
            if self._floating:
                result[:3], result[3:6] = self._R @ acceleration[3:6], acceleration[:3]
            return result

        return Call(run, read)


ADAPTERS = {"Drake": Drake, "Pinocchio": Pinocchio, "MuJoCo": MuJoCo}
