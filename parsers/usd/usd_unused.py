"""What a stage says and nothing here reads: a warning for what would move something, a note for all the rest.

docs/reference/severity.md has these tables, and a test compares them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.usd.usd_stage import Prim, Stage

STANDARD = ("physics:", "limit:", "drive:")
_MOST_NAMES = 6

# (attributes, values that move nothing, what to do) of extensions of UsdPhysics
MOVES: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("physxRigidBody:enableGyroscopicForces", (True, 1), "gyroscopic forces always act"),
    ("physxRigidBody:retainAccelerations", (False, 0), "forces last one step"),
    ("physxRigidBody:maxLinearVelocity", (), "speeds have no bound"),
    ("physxRigidBody:maxAngularVelocity", (), "speeds have no bound"),
    ("physxForce:force", (0,), "--push acts on a body"),
    ("physxForce:torque", (0,), "--push acts on a body"),
    ("physxSurfaceVelocity:surfaceVelocity", (0,), "surfaces do not move by themselves"),
    ("physxSurfaceVelocity:surfaceAngularVelocity", (0,), "surfaces do not move by themselves"),
    ("physxJoint:jointFriction", (0,), "newton:friction states the friction of a joint"),
    ("physxCollision:restOffset", (0,), "solids touch at their surfaces"),
    ("physxCollision:torsionalPatchRadius", (0,), "friction about the normal is that of the contact points"),
    ("physxMaterial:compliantContactStiffness", (0,), "stiffness of contact follows from the masses"),
    ("physxMaterial:compliantContactDamping", (0,), "dissipation of contact follows from the masses"),
    ("physxMaterial:frictionCombineMode", ("average",), "friction of two solids combines in one way"),
    ("physxMaterial:restitutionCombineMode", ("average",), "restitution of two solids combines in one way"),
    (r"physxLimit:\w+:(stiffness|damping|restitution)", (0,), "stops are nearly rigid"),
    (r"physxTendon.*", (0,), "tendons are not read"),
    (r"physxVehicle.*", (0,), "vehicles are not read"),
    (r"physxCharacterController.*", (), "controllers of characters are not read"),
    (r"physxParticle.*|physxDeformable.*|physxAutoParticle.*", (), "particles and deformable bodies are not read"),
    (r"state:\w+:physics:(position|velocity)", (0,), "--at sets the start of a run"),
    ("mjc:option:(density|viscosity|wind|wind:.*|magnetic)", (0,), "there is no medium"),
    ("mjc:(gravcomp|margin|condim|stiffness|springdamper)", (0, 3), "it is not read here"),
)
# of the extensions' namespaces: what tunes solvers, searches and pictures
MOVES_NOTHING = re.compile(
    r"mjc:.*|state:.*"
    r"|physxScene:.*|physxSimulationOwner.*|physxContactReport:.*|physxTrigger.*|physxDiffuse.*"
    r"|physx(ConvexHull|ConvexDecomposition|TriangleMesh|TriangleMeshSimplification|SDFMesh|SphereFill)Collision:.*"
    r"|physxCookedData:.*|physxCameraFollow.*|physxMeshMerge.*"
    r"|physxRigidBody:(solver\w+|sleepThreshold|stabilizationThreshold|enableCCD|enableSpeculativeCCD|cfmScale"
    r"|contactSlopCoefficient|maxContactImpulse|maxDepenetrationVelocity|disableGravity|solveContact)"
    r"|physxArticulation:(solver\w+|sleepThreshold|stabilizationThreshold|articulationEnabled|enabledSelfCollisions)"
    r"|physxCollision:(contactOffset|minTorsionalPatchRadius)"
    r"|physxJoint:(enableResidualReporting|maxJointVelocity|armature)|physxLimit:\w+:bounceThreshold"
    r"|physxMaterial:(improvePatchFriction|dampingCombineMode|compliantContactAccelerationSpring)"
    r"|physxMimicJoint:\w+:(naturalFrequency|dampingRatio)|physxSurfaceVelocity:(surfaceVelocityEnabled"
    r"|surfaceVelocityLocalSpace)|physxForce:(forceEnabled|mode|worldFrameEnabled)"
    r"|newton:(maxSolverIterations|timeStepsPerSecond|contactMargin|contactGap|maxHullVertices|(?=\w*?[Ss]olver)\w++)"
)


def report_unused(stage: Stage) -> None:
    """One warning for each value that is not read and would move something, and one note for all the rest."""
    warned: dict[str, tuple[str, list[Prim]]] = {}
    harmless: Counter[str] = Counter()
    for prim in stage.prims.values():
        for name in sorted(prim.unread):
            reason = effect(name, prim.attributes.get(name))
            if reason is None:
                harmless[name] += 1
            else:
                warned.setdefault(name, (reason, []))[1].append(prim)
    for name, (reason, prims) in warned.items():
        times = f" ({len(prims)} times)" if len(prims) > 1 else ""
        message = f'"{name}" is not supported{times}' + (f": {reason}" if reason else "")
        stage.diagnostics.warning("ATTRIBUTE_UNSUPPORTED", message, prims[0], attribute=name)
    if harmless:
        message = f"{sum(harmless.values())} values for other engines are not used: {counted(harmless)}"
        stage.diagnostics.note("USD_UNUSED", message, place=stage.place)


def effect(name: str, value: Any) -> str | None:
    """Why a value that is not read would move something, "" without a word for it; None if it moves nothing."""
    if name == "physics:simulationOwner":  # all scenes are one
        return None
    if name.startswith(STANDARD):
        return ""
    for pattern, neutral, cure in MOVES:
        if re.fullmatch(pattern, name):
            numbers = value if isinstance(value, (list, tuple)) else [value]
            return None if neutral and all(number in neutral for number in numbers) else cure
    return None if MOVES_NOTHING.fullmatch(name) else "it is not known here, and may move something"


def counted(counter: Counter[str]) -> str:
    """The names of a counter with their counts, the most frequent ones."""
    shown = [f"{count} {name}" for name, count in counter.most_common(_MOST_NAMES)]
    return ", ".join(shown) + (", ..." if len(counter) > _MOST_NAMES else "")
