"""Jacobians, biases, motions of frames, mass properties and reaction forces against pydrake.

Both libraries run the same functions of this file on the plants of test_peers_models.py; results agree within 1e-10 of
the largest entry.
"""

import importlib
import inspect
import re

import numpy as np
import pytest
from repository import files_of_tests
from test_peers_models import (
    FILES,
    RANDOM_PLANTS,
    TOLERANCE,
    fix_inputs,
    model_id,
    pair_of_file,
    pair_of_seed,
    relative_error,
    set_state,
)

pytestmark = pytest.mark.peers("pydrake")

STATES = 10
ATLAS = [path for path in FILES if path.name == "atlas_minimal_contact.urdf"]


@pytest.fixture(params=[*range(RANDOM_PLANTS), *ATLAS], ids=model_id, scope="module")
def pair(request):
    return (pair_of_seed if isinstance(request.param, int) else pair_of_file)(request.param)


def frames_of(side, d):
    """Four frames: of bodies, fixed to them by one or two offsets, or World."""
    return [*(side.plant.GetFrameByName(name) for name in d.frame_names[:3]), side.bodies[d.pushed[0]].body_frame()]


def measurements(side, d):
    """Frames B, A, E for results: moving ones, and World in each place."""
    B, A, E, F = frames_of(side, d)
    W = side.plant.world_frame()
    return (B, A, E), (F, W, W), (W, A, B), (E, E, A)


def instances(side, d):
    """A model instance, and all of them in a list with repetitions."""
    count = side.plant.num_model_instances()
    own = [
        side.lib.ModelInstanceIndex(i)
        for i in range(1, count)
        if side.plant.GetBodyIndices(side.lib.ModelInstanceIndex(i))
    ]
    return [own[0]], [own[-1], *own]


def variables(side):
    return side.lib.JacobianWrtVariable.kV, side.lib.JacobianWrtVariable.kQDot


def angular_jacobians(side, d):
    return [
        side.plant.CalcJacobianAngularVelocity(side.context, s, B, A, E)
        for B, A, E in measurements(side, d)
        for s in variables(side)
    ]


def spatial_jacobians(side, d):
    return [
        side.plant.CalcJacobianSpatialVelocity(side.context, s, B, d.point, A, E)
        for B, A, E in measurements(side, d)
        for s in variables(side)
    ]


def translational_jacobians(side, d):
    return [
        side.plant.CalcJacobianTranslationalVelocity(side.context, s, B, points, A, E)
        for B, A, E in measurements(side, d)
        for s in variables(side)
        for points in (d.point, d.offsets)
    ]


def position_jacobians(side, d):
    return [
        side.plant.CalcJacobianPositionVector(side.context, B, d.offsets, A, E) for B, A, E in measurements(side, d)
    ]


def com_jacobians(side, d):
    calculate = side.plant.CalcJacobianCenterOfMassTranslationalVelocity
    results = []
    for _, A, E in measurements(side, d):
        for s in variables(side):
            results.append(calculate(side.context, s, A, E))
            results += [calculate(side.context, chosen, s, A, E) for chosen in instances(side, d)]
    return results


def spatial_biases(side, d):
    kV = side.lib.JacobianWrtVariable.kV
    return [
        side.plant.CalcBiasSpatialAcceleration(side.context, kV, B, d.point, A, E).get_coeffs()
        for B, A, E in measurements(side, d)
    ]


def translational_biases(side, d):
    kV = side.lib.JacobianWrtVariable.kV
    return [
        side.plant.CalcBiasTranslationalAcceleration(side.context, kV, B, points, A, E)
        for B, A, E in measurements(side, d)
        for points in (d.point, d.offsets)
    ]


def com_biases(side, d):
    kV, calculate = side.lib.JacobianWrtVariable.kV, side.plant.CalcBiasCenterOfMassTranslationalAcceleration
    results = []
    for _, A, E in measurements(side, d):
        results.append(calculate(side.context, kV, A, E))
        results += [calculate(side.context, chosen, kV, A, E) for chosen in instances(side, d)]
    return results


def positions_of_points(side, d):
    B, A = frames_of(side, d)[:2]
    return [side.plant.CalcPointsPositions(side.context, B, points, A) for points in (d.point, d.offsets)]


def velocities_of_points(side, d):
    return [
        side.plant.CalcPointsVelocities(side.context, B, points, A, E)
        for B, A, E in measurements(side, d)
        for points in (d.point, d.offsets)
    ]


def rotations(side, d):
    B, A = frames_of(side, d)[:2]
    return [
        R.matrix()
        for R in (
            side.plant.CalcRelativeRotationMatrix(side.context, A, B),
            B.CalcRotationMatrix(side.context, A),
            B.CalcRotationMatrixInWorld(side.context),
            B.CalcRotationMatrixInBodyFrame(side.context),
            B.GetFixedRotationMatrixInBodyFrame(),
            B.CalcOffsetRotationMatrixInBody(side.context, A.GetFixedRotationMatrixInBodyFrame()),
            B.GetFixedRotationMatrixInBody(A.GetFixedRotationMatrixInBodyFrame()),
        )
    ]


def poses_in_bodies(side, d):
    B, A = frames_of(side, d)[:2]
    X = A.GetFixedPoseInBodyFrame()
    return [
        pose.GetAsMatrix34()
        for pose in (
            X,
            B.CalcPoseInBodyFrame(side.context),
            B.CalcOffsetPoseInBody(side.context, X),
            B.GetFixedOffsetPoseInBody(X),
        )
    ]


def masses_of_bodies(side, d):
    return [
        part
        for body in side.bodies[1:]
        for part in (
            body.CalcCenterOfMassInBodyFrame(side.context),
            body.CalcSpatialInertiaInBodyFrame(side.context).CopyToFullMatrix6(),
        )
    ]


def velocities_of_frames(side, d):
    context, results = side.context, []
    B, A, E, F = frames_of(side, d)
    for V in (
        B.CalcSpatialVelocity(context, A, E),
        B.CalcSpatialVelocityInWorld(context),
        B.CalcRelativeSpatialVelocity(context, F, A, E),
        B.CalcRelativeSpatialVelocityInWorld(context, F),
    ):
        results.append(V.get_coeffs())
    return [
        *results,
        np.concatenate([B.EvalAngularVelocityInWorld(context), B.CalcAngularVelocity(context, A, E)]),
    ]


def accelerations_of_frames(side, d):
    fix_inputs(side, d)
    context = side.context
    B, A, E, F = frames_of(side, d)
    return [
        acceleration.get_coeffs()
        for acceleration in (
            B.CalcSpatialAcceleration(context, A, E),
            B.CalcSpatialAccelerationInWorld(context),
            B.CalcRelativeSpatialAcceleration(context, F, A, E),
            B.CalcRelativeSpatialAccelerationInWorld(context, F),
        )
    ]


def motions_of_bodies(side, d):
    fix_inputs(side, d)
    plant, context = side.plant, side.context
    return [
        np.concatenate(
            [
                plant.EvalBodyPoseInWorld(context, body).translation(),
                plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs(),
                plant.EvalBodySpatialAccelerationInWorld(context, body).get_coeffs(),
                body.CalcCenterOfMassTranslationalVelocityInWorld(context),
                body.CalcCenterOfMassTranslationalAccelerationInWorld(context),
            ]
        )
        for body in side.bodies[1:]
    ]


def centers_of_mass(side, d):
    fix_inputs(side, d)
    plant, context = side.plant, side.context
    results = []
    for chosen in ((), *((c,) for c in instances(side, d))):
        results += [
            plant.CalcCenterOfMassPositionInWorld(context, *chosen),
            plant.CalcCenterOfMassTranslationalVelocityInWorld(context, *chosen),
            plant.CalcCenterOfMassTranslationalAccelerationInWorld(context, *chosen),
            np.full(3, plant.CalcTotalMass(context, *chosen)),
        ]
    return results


def momenta(side, d):
    calculate = side.plant.CalcSpatialMomentumInWorldAboutPoint
    one, every = instances(side, d)
    # pydrake counts an instance that is listed twice as two here; for the centre of mass it counts it once, as we do
    return [
        calculate(side.context, d.point).get_coeffs(),
        *(calculate(side.context, chosen, d.point).get_coeffs() for chosen in (one, every[1:])),
    ]


def composite_inertias(side, d):
    F = frames_of(side, d)[0]
    every = [body.index() for body in side.bodies]
    return [
        side.plant.CalcSpatialInertia(side.context, F, chosen).CopyToFullMatrix6()
        for chosen in (every, every[::2], every[:1], [every[-1], every[2]])
    ]


def reaction_forces(side, d):
    fix_inputs(side, d)
    return [F.get_coeffs() for F in side.plant.get_reaction_forces_output_port().Eval(side.context)]


QUANTITIES = (
    angular_jacobians,
    spatial_jacobians,
    translational_jacobians,
    position_jacobians,
    com_jacobians,
    spatial_biases,
    translational_biases,
    com_biases,
    positions_of_points,
    velocities_of_points,
    rotations,
    poses_in_bodies,
    masses_of_bodies,
    velocities_of_frames,
    accelerations_of_frames,
    motions_of_bodies,
    centers_of_mass,
    momenta,
    composite_inertias,
    reaction_forces,
)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.__name__)
def test_quantity_equals_pydrake_at_random_states(pair, quantity):
    worst = 0.0
    for d in pair.draws[:STATES]:
        set_state(pair, d)
        ours, theirs = (quantity(side, d) for side in pair.sides())
        assert len(ours) == len(theirs)
        worst = max(
            worst, relative_error(*(np.concatenate([np.ravel(r) for r in results]) for results in (ours, theirs)))
        )
        for own, peer in zip(ours, theirs, strict=True):
            assert np.shape(own) == np.shape(peer)
    assert worst < TOLERANCE


def test_reaction_forces_equal_pydrake_with_parameters_of_a_context(pair):
    """Other masses and centres of mass, in the context only."""
    d = pair.draws[0]
    set_state(pair, d)
    results = []
    for side in pair.sides():
        context = side.context
        before = reaction_forces(side, d)
        for body in side.bodies[1::2]:
            body.SetMass(context, 1.5 * body.get_mass(context))
            body.SetSpatialInertiaInBodyFrame(context, body.CalcSpatialInertiaInBodyFrame(context).Shift(0.1 * d.point))
        changed = reaction_forces(side, d)
        for body in side.bodies[1::2]:
            body.SetSpatialInertiaInBodyFrame(context, body.default_spatial_inertia())
        assert relative_error(changed, before) > 1e-6
        results.append(changed)
    assert relative_error(*results) < TOLERANCE


@pytest.mark.parametrize("module", ["math", "tree", "plant"])
def test_every_calculation_that_pydrake_has_too_is_compared_with_it(module):
    """Calc, Eval and Map methods of all classes: each is named in a test that calls pydrake."""
    ours, theirs = (importlib.import_module(f"{library}.multibody.{module}") for library in ("mbcli", "pydrake"))
    files = (path.read_text(encoding="utf-8") for path in files_of_tests())
    compared = "".join(text for text in files if "mark.peers" in text)
    missing = []
    for name in ours.__all__:
        own, peer = getattr(ours, name), getattr(theirs, name, None)
        if inspect.isclass(own) and inspect.isclass(peer):
            methods = {m for m in dir(own) if m.startswith(("Calc", "Eval", "Map"))} & set(dir(peer))
            missing += [f"{name}.{m}" for m in methods if not re.search(rf"\b{m}\b", compared)]
    assert not missing
