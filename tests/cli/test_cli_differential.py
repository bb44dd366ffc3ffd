"""Whole command lines against the library, on the sample models and on random ones: the same key, the same number.

What a command prints is computed here again from pydrake's names of the library, by other functions than the command
calls where there are any. MBCLI_DIFFERENTIAL=N tries N times as many states.
"""

import io
import json
import os
import warnings

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.math import RigidTransform
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.core.position_stops import position_stops
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import JacobianWrtVariable, MultibodyForces
from mbcli.systems.analysis import Simulator

EFFORT = int(os.environ.get("MBCLI_DIFFERENTIAL", "1"))
TREES = [
    SAMPLES / name for name in ("all_joints.sdf", "arm7.urdf", "cart_pole.sdf", "double_pendulum.xml", "quadruped.urdf")
]
CHAINS = [SAMPLES / "closed_chains" / name for name in ("four_bar.urdf", "slider_crank.urdf", "closed_leg.xml")]
RANDOM_MODELS = [
    "one body",
    *(f"random {seed}" for seed in range(4 * EFFORT)),
]  # the one body is welded: no freedom at all
CLOSE = 1e-9  # relative to the largest element: two ways of computing differ by rounding in some hundred terms
DIFFERENCES = 1e-5  # of central differences


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


# ---------------------------------------------------------------------------------------------------- models


def random_urdf(rng, count=None):
    """A tree of links that are nothing special, with most of what URDF says of joints, and actuators."""
    parts, count = [], rng.integers(2, 7) if count is None else count

    def numbers(*values):
        return " ".join(repr(float(value)) for value in np.concatenate(values))

    def origin():
        return f'<origin xyz="{numbers(rng.normal(size=3) * 0.3)}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'

    for k in range(count):
        a, b, c = rng.uniform(0.01, 0.1, 3)
        parts.append(
            f'<link name="l{k}"><inertial>{origin()}<mass value="{rng.uniform(0.2, 3.0)}"/>'
            f'<inertia ixx="{a + b}" iyy="{b + c}" izz="{c + a}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    for k in range(1, count):
        kind = rng.choice(
            ["revolute", "continuous", "prismatic", "fixed", "planar", "floating"], p=[0.4, 0.1, 0.25, 0.1, 0.05, 0.1]
        )
        axis = rng.normal(size=3)
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{rng.integers(k)}"/><child link="l{k}"/>{origin()}'
            f'<axis xyz="{numbers(axis / np.linalg.norm(axis))}"/>'
            + (
                f'<dynamics damping="{rng.uniform(0.0, 0.5)}"/>'
                if kind in ("revolute", "continuous", "prismatic")
                else ""
            )
            + ('<limit lower="-2" upper="2.5" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else "")
            + "</joint>"
        )
        if kind in ("revolute", "prismatic") and rng.random() < 0.7:
            parts.append(
                f'<transmission name="t{k}"><type>transmission_interface/SimpleTransmission</type><joint name="j{k}"/>'
                f'<actuator name="m{k}"><drake:rotor_inertia xmlns:drake="x" value="{rng.uniform(0, 0.02)}"/>'
                f'<drake:gear_ratio xmlns:drake="x" value="{rng.uniform(1, 5)}"/></actuator></transmission>'
            )
    return f'<robot name="r">{"".join(parts)}</robot>'


class Model:
    """A model file, what the command line is told of it, and plants of the same, discrete and continuous."""

    def __init__(self, path, seed, tmp_path):
        self.rng = np.random.default_rng(seed)
        if isinstance(path, str):
            is_one_body = path == "one body"
            path = tmp_path / f"{path.replace(' ', '_')}.urdf"
            path.write_text(random_urdf(self.rng, 1 if is_one_body else None))
        self.path, self.options = path, ()
        if path.suffix == ".urdf" and path not in CHAINS and (path.stem == "one_body" or self.rng.random() < 0.5):
            self.options = ("--weld-base",)
        self.plant, self.continuous = (self.new_plant(step) for step in (0.001, 0.0))
        self.nq, self.nv, self.nu = self.plant.num_positions(), self.plant.num_velocities(), self.plant.num_actuators()
        names = self.plant.GetVelocityNames()
        self.D = np.zeros(self.nv)
        for joint in self.plant.moving_joints():
            start = joint.velocity_start()
            self.D[start : start + joint.num_velocities()] = joint.default_damping_vector()
        assert len(names) == self.nv

    def new_plant(self, step):
        plant = MultibodyPlant(step)
        parser = Parser(plant)
        models = parser.AddModels(str(self.path))
        if self.options:
            for model in models:
                base = plant.get_body(plant.GetBodyIndices(model)[0])
                if not any(joint.child_body() is base for joint in plant.elements.joints):
                    plant.WeldFrames(plant.world_frame(), base.body_frame())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plant.Finalize()
        return plant

    def state(self):
        """Random q and v of the plant's default state's manifold."""
        q, v = self.rng.uniform(-1.5, 1.5, self.nq), self.rng.normal(size=self.nv)
        for joint in self.plant.moving_joints():
            if joint.type_name() == "quaternion_floating":
                i = joint.position_start()
                q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        return q, v

    def contexts(self, q, v):
        """Contexts of the discrete and of the continuous plant in a state."""
        found = []
        for plant in (self.plant, self.continuous):
            context = plant.CreateDefaultContext()
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            found.append(context)
        return found

    def run(self, command, *options, stdin=""):
        return succeed("-q", command, self.path, *self.options, *options, stdin=stdin)

    def document(self, command, q, v, *options):
        """The JSON document of a command at a state, which is given in one of the ways there are."""
        way = self.rng.integers(3)
        if way == 0:
            given, stdin = ("--q", text_of(q), "--v", text_of(v)), ""
        elif way == 1:
            names = zip([*self.plant.GetPositionNames(), *self.plant.GetVelocityNames()], [*q, *v], strict=True)
            given, stdin = (
                [
                    word
                    for name, x in names
                    for word in ("--at", f"{name}={x!r}".replace("np.float64(", "").rstrip(")"))
                ],
                "",
            )
        else:
            given, stdin = ("--state", "-"), json.dumps({"q": q.tolist(), "v": v.tolist()})
        document = self.run(command, *given, *options, "--json", stdin=stdin).json()
        if command not in ("assemble", "simulate"):
            assert (document["q"], document["v"]) == (q.tolist(), v.tolist())
        return document


def text_of(values):
    return " ".join(repr(float(x)) for x in values)


def agree(found, expected, tolerance=CLOSE):
    """The same keys, and numbers that are equal to rounding."""
    assert {key: found.get(key) is not None for key in expected} == dict.fromkeys(expected, True)
    for key, value in expected.items():
        value = np.asarray(value, dtype=float)
        scale = max(1.0, np.abs(value).max(initial=0.0))
        printed = np.asarray(found[key], dtype=float)
        if not value.size:  # [] is what JSON has of a matrix without rows
            printed = printed.reshape(value.shape)
        np.testing.assert_allclose(printed, value, rtol=0, atol=tolerance * scale, err_msg=key)


@pytest.fixture(params=[*TREES, *RANDOM_MODELS], ids=lambda path: getattr(path, "name", path))
def tree(request, tmp_path):
    return Model(request.param, len(str(request.param)) + 7 * request.param_index, tmp_path)


@pytest.fixture(params=CHAINS, ids=lambda path: path.name)
def chain(request, tmp_path):
    return Model(request.param, 3 + request.param_index, tmp_path)


# ----------------------------------------------------------------------------------------------- one state


def test_commands_that_describe_a_state(tree):
    plant = tree.plant
    for _ in range(EFFORT):
        q, v = tree.state()
        context, _ = tree.contexts(q, v)
        M = plant.CalcMassMatrixViaInverseDynamics(context)
        agree(tree.document("mass-matrix", q, v), {"M": M})
        agree(tree.document("mass-matrix", q, v, "--via-inverse-dynamics"), {"M": plant.CalcMassMatrix(context)})
        inverse = np.array(tree.document("mass-matrix", q, v, "--inverse")["M"]).reshape(M.shape)
        condition = np.linalg.cond(M) if tree.nv else 1.0
        np.testing.assert_allclose(inverse @ M, np.eye(tree.nv), atol=1e-12 * condition)
        agree(tree.document("bias", q, v), {"Cv": plant.CalcBiasTerm(context)})
        agree(tree.document("gravity", q, v), {"tau_g": plant.CalcGravityGeneralizedForces(context)})
        energy = {
            "kinetic": 0.5 * v @ M @ v,
            "potential": plant.CalcPotentialEnergy(context),
            "conservative_power": plant.CalcConservativePower(context),
            "nonconservative_power": plant.CalcNonConservativePower(context),
            "joint_damping_power": -tree.D @ v**2,
        }
        agree(tree.document("energy", q, v), energy)
        moving = [body for body in plant.elements.bodies[1:] if not plant.IsAnchored(body)]
        fixed = [body for body in plant.elements.bodies[1:] if plant.IsAnchored(body)]
        masses = np.array([body.get_mass(context) for body in moving or fixed])
        places = [b.EvalPoseInWorld(context) @ b.CalcCenterOfMassInBodyFrame(context) for b in moving or fixed]
        velocities = [body.CalcCenterOfMassTranslationalVelocityInWorld(context) for body in moving or fixed]
        com = {
            "p_WCom": masses @ places / masses.sum(),
            "v_WCom": masses @ velocities / masses.sum(),
            "total_mass": masses.sum(),
            "left_out": [body.scoped_name().get_full() for body in fixed if moving and body.get_mass(context) > 0.0],
        }
        assert tree.document("com", q, v)["left_out"] == com.pop("left_out")
        agree(tree.document("com", q, v), com)
        point = tree.rng.normal(size=3)
        momentum = plant.CalcSpatialMomentumInWorldAboutPoint(context, point).get_coeffs()
        agree(tree.document("momentum", q, v, "--point", ",".join(map(repr, point.tolist()))), {"L_WS_W": momentum})


def test_energies_of_bodies_are_those_of_their_motion(tree):
    q, v = tree.state()
    context, _ = tree.contexts(q, v)
    found = tree.document("energy", q, v, "--bodies")["bodies"]
    bodies = [body for body in tree.plant.elements.bodies if body is not tree.plant.world_body()]
    assert set(found) == {body.scoped_name().get_full() for body in bodies}
    g = tree.plant.gravity_field().gravity_vector()
    for body in bodies:
        V_WB, X_WB = body.EvalSpatialVelocityInWorld(context), body.EvalPoseInWorld(context)
        L_W = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(X_WB.rotation()) * V_WB
        com = X_WB @ body.CalcCenterOfMassInBodyFrame(context)
        expected = {"kinetic": 0.5 * V_WB.dot(L_W), "potential": -body.get_mass(context) * com @ g}
        agree(found[body.scoped_name().get_full()], expected)


def test_frames_and_jacobians(tree):
    plant, rng = tree.plant, tree.rng
    for _ in range(EFFORT):
        q, v = tree.state()
        context, _ = tree.contexts(q, v)
        vdot = rng.normal(size=tree.nv)
        moving = [
            body
            for body in plant.elements.bodies[1:]
            if [b.name() for b in plant.elements.bodies].count(body.name()) == 1
        ]
        B, A, E = rng.choice(np.array([*moving, plant.world_body()], dtype=object), 3)
        b, a, e = (body.name() if body is not plant.world_body() else "world" for body in (B, A, E))
        X_AB = B.body_frame().CalcPose(context, A.body_frame())
        frames = tree.document("kinematics", q, v, "--frame", b, "--relative-to", a, "--vdot", text_of(vdot))["frames"]
        V_WB, V_WA = (body.EvalSpatialVelocityInWorld(context) for body in (B, A))
        R_WA, p_AB_W = (
            A.EvalPoseInWorld(context).rotation().matrix(),
            B.EvalPoseInWorld(context).translation() - A.EvalPoseInWorld(context).translation(),
        )
        w = V_WB.rotational() - V_WA.rotational()
        speed = V_WB.translational() - V_WA.translational() - np.cross(V_WA.rotational(), p_AB_W)
        quaternion = X_AB.rotation().ToQuaternion().wxyz()
        expected = {
            "X_WF": X_AB.GetAsMatrix4(),
            "p_WF": X_AB.translation(),
            "quaternion": quaternion,
            "V_WF": np.concatenate([R_WA.T @ w, R_WA.T @ speed]),
        }
        agree(frames[b], expected)
        # accelerations in the world, by the kinematics from vdot
        accelerations = plant.CalcSpatialAccelerationsFromVdot(context, vdot)
        frames = tree.document("kinematics", q, v, "--vdot", text_of(vdot))["frames"]
        for body in moving:
            agree(frames[body.name()], {"A_WF": accelerations[int(body.index())].get_coeffs()})
        # J v is the velocity, and J vdot + bias the acceleration, of the point
        point = rng.normal(size=3)
        options = (
            "--frame",
            b,
            "--point",
            ",".join(map(repr, point.tolist())),
            "--measured-in",
            a,
            "--expressed-in",
            e,
        )
        spatial = tree.document("jacobian", q, v, *options)
        offset = B.EvalPoseInWorld(context).rotation().matrix() @ point
        R_WE = E.EvalPoseInWorld(context).rotation().matrix()
        V = np.concatenate([R_WE.T @ w, R_WE.T @ (speed + np.cross(w, offset))])
        agree({"V": np.array(spatial["J"]) @ v}, {"V": V})
        translational = tree.document("jacobian", q, v, "--kind", "translational", *options)
        agree(translational, {"J": np.array(spatial["J"])[3:], "bias": spatial["bias"][3:]})
        no_point = ("--frame", b, "--measured-in", a, "--expressed-in", e)
        angular = tree.document("jacobian", q, v, "--kind", "angular", *no_point)
        agree(angular, {"J": np.array(spatial["J"])[:3], "bias": spatial["bias"][:3]})
        by_rates = tree.document("jacobian", q, v, "--wrt", "qdot", *options)
        agree({"V": np.array(by_rates["J"]) @ plant.MapVelocityToQDot(context, v)}, {"V": V})
        world = tree.document("jacobian", q, v, "--frame", b)
        A_W = np.array(world["J"]) @ vdot + world["bias"]
        agree({"A": A_W}, {"A": accelerations[int(B.index())].get_coeffs()})


def test_dynamics_forward_and_inverse(tree):
    plant, rng = tree.plant, tree.rng
    for _ in range(EFFORT):
        q, v = tree.state()
        context, continuous = tree.contexts(q, v)
        vdot, tau, u = rng.normal(size=tree.nv), rng.normal(size=tree.nv), rng.normal(size=tree.nu)
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        required = plant.CalcInverseDynamics(context, vdot, forces)
        agree(tree.document("inverse-dynamics", q, v, "--vdot", text_of(vdot)), {"tau": required})
        without = required + plant.CalcGravityGeneralizedForces(context)
        agree(tree.document("inverse-dynamics", q, v, "--vdot", text_of(vdot), "--no-gravity"), {"tau": without})
        without = required - tree.D * v
        agree(tree.document("inverse-dynamics", q, v, "--vdot", text_of(vdot), "--no-damping"), {"tau": without})
        body = plant.elements.bodies[-1]
        if [b.name() for b in plant.elements.bodies].count(body.name()) == 1:
            F = rng.normal(size=6)
            world, kV = plant.world_frame(), JacobianWrtVariable.kV
            J = plant.CalcJacobianSpatialVelocity(context, kV, body.body_frame(), np.zeros(3), world, world)
            options = ("--vdot", text_of(vdot), "--force-on", f"{body.name()}={','.join(map(repr, F.tolist()))}")
            agree(tree.document("inverse-dynamics", q, v, *options), {"tau": required - J.T @ F})
        options = ["--tau", text_of(tau)] + (["--u", text_of(u)] if tree.nu else [])
        tree.continuous.get_applied_generalized_force_input_port().FixValue(continuous, tau)
        if tree.nu:
            tree.continuous.get_actuation_input_port().FixValue(continuous, u)
        expected = tree.continuous.get_generalized_acceleration_output_port().Eval(continuous)
        agree(tree.document("forward-dynamics", q, v, *options), {"vdot": expected}, 1e-7)


def test_linearization_is_the_derivative_of_the_motion(tree):
    if tree.nq + tree.nv > 16:
        pytest.skip("differences of many states take long")
    q, v = tree.state()
    _, context = tree.contexts(q, v)
    u = tree.rng.normal(size=tree.nu)
    document = tree.document("linearize", q, v, *(["--u", text_of(u)] if tree.nu else []))

    def rates(x, u):
        context.SetContinuousState(x)
        if tree.nu:
            tree.continuous.get_actuation_input_port().FixValue(context, u)
        return np.array(tree.continuous.EvalTimeDerivatives(context).CopyToVector())

    x, step = np.concatenate([q, v]), 1e-6
    columns = [(rates(x + step * e, u) - rates(x - step * e, u)) / (2 * step) for e in np.eye(len(x))]
    A = np.reshape(columns, (len(x), len(x))).T
    expected = {"f0": rates(x, u), "A": A, "C": np.eye(len(x)), "D": np.zeros((len(x), tree.nu))}
    if tree.nu:
        columns = [(rates(x, u + step * e) - rates(x, u - step * e)) / (2 * step) for e in np.eye(tree.nu)]
        expected["B"] = np.column_stack(columns)
    agree(document, expected, DIFFERENCES)


def test_inspect_counts_what_the_plant_has(tree):
    document, plant = tree.run("inspect", "--json").json(), tree.plant
    context = plant.CreateDefaultContext()
    assert document["position_names"] == plant.GetPositionNames()
    assert document["velocity_names"] == plant.GetVelocityNames()
    assert document["actuator_names"] == plant.GetActuatorNames()
    counts = {
        "nq": tree.nq,
        "nv": tree.nv,
        "nu": tree.nu,
        "bodies": plant.num_bodies() - 1,
        "joints": plant.num_joints(),
    }
    assert {key: document["counts"][key] for key in counts} == counts
    expected = {"total_mass": plant.CalcTotalMass(context), "gravity": plant.gravity_field().gravity_vector()}
    agree(document, expected | {"default_positions": plant.GetPositions(context)})


# ------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("command, key", [("mass-matrix", "M"), ("inverse-dynamics", "tau"), ("energy", "kinetic")])
def test_rows_of_a_batch_are_the_single_states(tree, command, key, tmp_path):
    states = [tree.state() for _ in range(3)]
    names = [*tree.plant.GetPositionNames(), *tree.plant.GetVelocityNames()]
    table = "\n".join([",".join(names), *(",".join(text_of([*q, *v]).split()) for q, v in states)])
    lines = "\n".join(json.dumps({"q": q.tolist(), "v": v.tolist()}) for q, v in states)
    archive = io.BytesIO()
    np.savez(archive, q=[q for q, _ in states], v=[v for _, v in states])
    single = [tree.document(command, q, v)[key] for q, v in states]
    kinds = {"csv": table, "jsonl": lines, "npz": archive.getvalue()}
    for kind, content in kinds.items():
        if kind == "csv" and not names:
            continue  # nothing stands in its lines
        zero = ("--vdot", "zero") if command == "inverse-dynamics" else ()
        out = tree.run(command, "--states", "-", "--states-format", kind, "--format", "jsonl", *zero, stdin=content).out
        assert [json.loads(line)[key] for line in out.splitlines()] == single


# ----------------------------------------------------------------------------------------- runs, and chains


def test_a_run_ends_where_a_simulator_does(tree):
    for options, plant in (((), tree.plant), (("--integrator", "runge_kutta3", "--log-rate", 0.001), tree.continuous)):
        q, v = (0.1 * part for part in tree.state())
        for joint in plant.moving_joints():
            if joint.type_name() == "quaternion_floating":
                q[joint.position_start() : joint.position_start() + 4] = [1, 0, 0, 0]
        document = tree.document("simulate", q, v, "-t", 0.02, "--no-log", "--no-contact", *options)
        if plant is tree.continuous:
            plant = plant_of_run(plant, stops=position_stops(plant))
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, [*q, *v])
        start = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of starts outside of limits
            Simulator(plant, context).AdvanceTo(0.02)
        end = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
        expected = {"q": plant.GetPositions(context), "v": plant.GetVelocities(context), "end_time": 0.02}
        agree(document, expected | {"energy_start": start, "energy_end": end, "energy_drift": end - start}, 1e-7)


def test_assembled_states_satisfy_the_constraints_of_the_plant(chain):
    q, v = (0.3 * part for part in chain.state())
    document = chain.document("assemble", q, v)
    context, _ = chain.contexts(np.array(document["q"]), np.array(document["v"]))
    chains = ClosedChains(context)
    expected = {
        "position_error": np.linalg.norm(chains.position_errors(context.state.q)[0]),
        "velocity_error": np.linalg.norm(chains.velocity_errors(context.state.q, context.state.v)[0]),
        "rank": np.linalg.matrix_rank(chains.position_errors(context.state.q)[1], tol=1e-6),
    }
    agree(document, expected)
    assert document["mobility"] == chain.nv - document["rank"]
    assert document["position_error"] < 1e-10 and document["velocity_error"] < 1e-10


@pytest.mark.parametrize("method", ["range-space", "null-space"])
def test_motion_under_constraints_is_that_of_the_continuous_plant(chain, method):
    q, v = (0.3 * part for part in chain.state())
    assembled = chain.document("assemble", q, v)
    q, v = np.array(assembled["q"]), np.array(assembled["v"])
    context, continuous = chain.contexts(q, v)
    tau = chain.rng.normal(size=chain.nv)
    document = chain.document("constrained-dynamics", q, v, "--method", method, "--tau", text_of(tau))
    chain.continuous.get_applied_generalized_force_input_port().FixValue(continuous, tau)
    expected = chain.continuous.get_generalized_acceleration_output_port().Eval(continuous)
    agree(document, {"vdot": expected, "tau": tau, "v_plus": v, "rank": assembled["rank"]}, 1e-7)
    agree(chain.document("forward-dynamics", q, v, "--tau", text_of(tau)), {"vdot": expected}, 1e-7)
    # the equations of motion, with the Jacobian of the errors
    G = ClosedChains(context).velocity_errors(q, v)[1]
    forces = MultibodyForces(chain.plant)
    chain.plant.CalcForceElementsContribution(context, forces)
    residual = chain.plant.CalcInverseDynamics(context, np.array(document["vdot"]), forces) - tau
    agree({"forces": G.T @ np.array(document["lambda"])}, {"forces": residual}, 1e-6)


def test_contacts_are_the_contact_results_of_the_continuous_plant():
    from mbcli.geometry import DefaultProximityProperties, HalfSpace, SceneGraph, SceneGraphConfig
    from mbcli.multibody.plant import CoulombFriction

    plant = MultibodyPlant(0.0)
    defaults = DefaultProximityProperties(point_stiffness=None, hunt_crossley_dissipation=None)
    plant.RegisterAsSourceForSceneGraph(SceneGraph(SceneGraphConfig(default_proximity_properties=defaults)))
    plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "ground", CoulombFriction(1.0, 1.0)
    )
    Parser(plant).AddModels(str(SAMPLES / "quadruped.urdf"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plant.Finalize()
    rng = np.random.default_rng(1)
    for _ in range(2 * EFFORT):
        context = plant.CreateDefaultContext()
        q, v = plant.GetPositions(context), 0.1 * rng.normal(size=plant.num_velocities())
        q[6] = rng.uniform(0.3, 0.4)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        softness = ("--set", "plant_config.penetration_allowance=1e-3")  # that of a continuous plant
        given = ("--ground", "--q", text_of(q), "--v", text_of(v), "--json", *softness)
        pairs = succeed("-q", "contact", SAMPLES / "quadruped.urdf", *given).json()["point_pairs"]
        results = plant.get_contact_results_output_port().Eval(context)
        assert len(pairs) == results.num_point_pair_contacts() > 0
        found = sorted(([*pair["point_W"], *pair["force_W"], pair["depth"], pair["slip_speed"]]) for pair in pairs)
        infos = [results.point_pair_contact_info(k) for k in range(len(pairs))]
        expected = sorted(
            [*info.contact_point(), *info.contact_force(), info.point_pair().depth, info.slip_speed()] for info in infos
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_formulas_have_the_numbers_of_the_library():
    sympy = pytest.importorskip("sympy")
    model = SAMPLES / "double_pendulum.urdf"
    document = succeed("-q", "symbolic", model, "--json").json()
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(model))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(6)
    q, v = rng.normal(size=2), rng.normal(size=2)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    names = [*plant.GetPositionNames(), *plant.GetVelocityNames()]  # symbols are ends of them
    numbers = dict(zip(names, [*q, *v], strict=True))
    expected = {
        "M": plant.CalcMassMatrix(context),
        "Cv": plant.CalcBiasTerm(context),
        "tau_g": plant.CalcGravityGeneralizedForces(context),
    }

    def value(text):
        formula = sympy.sympify(text)
        known = {
            symbol: numbers[name] for symbol in formula.free_symbols for name in names if name.endswith(f"_{symbol}")
        }
        return float(formula.subs(known))

    found = {key: np.vectorize(value)(np.array(document[key], dtype=object)) for key in expected}
    agree(found, expected, 1e-6)
