"""What each value of a USD stage and each plugin of Gazebo classic does here, as reading it shows: tables of a page.

    python tests/support/severity_tables.py      writes docs/reference/severity.md anew

A value acts if the model differs from the one without it; a finding that names it is a warning or a note; else there is
a third thing, which is a fault.
"""

import json
import re
from dataclasses import fields, is_dataclass

import numpy as np
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.usd import usd_process, usd_stage
from mbcli.parsers.usd.usd_unused import MOVES
from repository import ROOT
from usd_texts import stage_text

from mbcli.plugins import CLASSIC

PAGE = ROOT / "docs" / "reference" / "severity.md"
START, END = "<!-- tables -->\n", "<!-- end of tables -->\n"
JOINT = "rel physics:body0 = </w/a>\nrel physics:body1 = </w/b>"

# (where it stands, its line, other lines that it needs there): all of UsdPhysics
OF_USD_PHYSICS = (
    ("scene", "vector3f physics:gravityDirection = (1, 0, 0)", ""),
    ("scene", "float physics:gravityMagnitude = 3", ""),
    ("body", "bool physics:rigidBodyEnabled = 0", ""),
    ("body", "bool physics:kinematicEnabled = 1", ""),
    ("body", "bool physics:startsAsleep = 1", ""),
    ("body", "vector3f physics:velocity = (1, 0, 0)", ""),
    ("body", "vector3f physics:angularVelocity = (90, 0, 0)", ""),
    ("body", "rel physics:simulationOwner = </s>", ""),
    ("body", "float physics:mass = 3", ""),
    ("body", "float physics:density = 3", ""),
    ("body", "point3f physics:centerOfMass = (0.1, 0, 0)", "float physics:mass = 3"),
    ("body", "float3 physics:diagonalInertia = (1, 2, 2.5)", "float physics:mass = 3"),
    ("body", "quatf physics:principalAxes = (0.6, 0.8, 0, 0)", "float3 physics:diagonalInertia = (1, 2, 2.5)"),
    ("collider", "bool physics:collisionEnabled = 0", ""),
    ("mesh", 'uniform token physics:approximation = "boundingCube"', ""),
    ("material", "float physics:staticFriction = 0.3", ""),
    ("material", "float physics:dynamicFriction = 0.3", ""),
    ("material", "float physics:restitution = 0.3", ""),
    ("material", "float physics:density = 3", ""),
    ("Revolute", 'uniform token physics:axis = "Y"', ""),
    ("Revolute", "float physics:lowerLimit = -10", ""),
    ("Revolute", "float physics:upperLimit = 10", ""),
    ("Revolute", "float physics:breakForce = 10", ""),
    ("Revolute", "float physics:breakTorque = 10", ""),
    ("Revolute", "bool physics:collisionEnabled = 1", ""),
    ("Revolute", "bool physics:jointEnabled = 0", ""),
    ("Revolute", "point3f physics:localPos0 = (1, 0, 0)", ""),
    ("Revolute", "point3f physics:localPos1 = (1, 0, 0)", ""),
    ("Revolute", "quatf physics:localRot0 = (0.6, 0.8, 0, 0)", ""),
    ("Revolute", "quatf physics:localRot1 = (0.6, 0.8, 0, 0)", ""),
    ("Prismatic", "float physics:lowerLimit = -10", ""),
    ("Prismatic", "float physics:upperLimit = 10", ""),
    ("Spherical", "float physics:coneAngle0Limit = 10", "float physics:coneAngle1Limit = 20"),
    ("Spherical", "float physics:coneAngle1Limit = 20", "float physics:coneAngle0Limit = 10"),
    ("Distance", "float physics:minDistance = 1", "float physics:maxDistance = 1"),
    ("Distance", "float physics:maxDistance = 1", "float physics:minDistance = 1"),
    ("drive", "float drive:angular:physics:stiffness = 3", ""),
    ("drive", "float drive:angular:physics:damping = 3", ""),
    ("drive", "float drive:angular:physics:maxForce = 3", "float drive:angular:physics:stiffness = 3"),
    ("drive", "float drive:angular:physics:targetPosition = 3", "float drive:angular:physics:stiffness = 3"),
    ("drive", "float drive:angular:physics:targetVelocity = 3", "float drive:angular:physics:damping = 3"),
    ("drive", 'uniform token drive:angular:physics:type = "acceleration"', "float drive:angular:physics:stiffness = 3"),
)
# what files of Isaac Sim and Newton have beside it
OF_EXTENSIONS = (
    ("body", "float physxRigidBody:linearDamping = 1", ""),
    ("body", "float physxRigidBody:angularDamping = 1", ""),
    ("body", "int physxRigidBody:lockedPosAxis = 4", ""),
    ("body", "int physxRigidBody:lockedRotAxis = 1", ""),
    ("body", "bool physxRigidBody:disableGravity = 1", ""),
    ("body", "bool physxRigidBody:enableGyroscopicForces = 0", ""),
    ("body", "bool physxRigidBody:retainAccelerations = 1", ""),
    ("body", "float physxRigidBody:maxLinearVelocity = 1", ""),
    ("body", "float physxRigidBody:maxAngularVelocity = 1", ""),
    ("body", "int physxRigidBody:solverPositionIterationCount = 8", ""),
    ("body", "int physxRigidBody:solverVelocityIterationCount = 8", ""),
    ("body", "float physxRigidBody:sleepThreshold = 1", ""),
    ("body", "float physxRigidBody:stabilizationThreshold = 1", ""),
    ("body", "bool physxRigidBody:enableCCD = 1", ""),
    ("body", "float physxRigidBody:maxDepenetrationVelocity = 1", ""),
    ("body", "float physxRigidBody:contactSlopCoefficient = 1", ""),
    ("body", "vector3f physxForce:force = (1, 0, 0)", ""),
    ("body", "vector3f physxForce:torque = (1, 0, 0)", ""),
    ("body", "vector3f physxSurfaceVelocity:surfaceVelocity = (1, 0, 0)", ""),
    ("body", "vector3f physxSurfaceVelocity:surfaceAngularVelocity = (1, 0, 0)", ""),
    ("body", "float physxNothing:known = 1", ""),
    ("collider", "float physxCollision:contactOffset = 0.01", ""),
    ("collider", "float physxCollision:restOffset = 0.01", ""),
    ("collider", "float physxCollision:torsionalPatchRadius = 0.01", ""),
    ("material", "float physxMaterial:compliantContactStiffness = 100", ""),
    ("material", "float physxMaterial:compliantContactDamping = 100", ""),
    ("material", 'uniform token physxMaterial:frictionCombineMode = "max"', ""),
    ("material", 'uniform token physxMaterial:restitutionCombineMode = "max"', ""),
    ("material", "bool physxMaterial:improvePatchFriction = 1", ""),
    ("Revolute", "float physxJoint:jointFriction = 1", ""),
    ("Revolute", "float physxJoint:armature = 1", ""),
    ("Revolute", "float physxJoint:maxJointVelocity = 10", ""),
    ("Revolute", "float physxLimit:angular:stiffness = 1", ""),
    ("Revolute", "float physxLimit:angular:damping = 1", ""),
    ("Revolute", "float physxLimit:angular:bounceThreshold = 1", ""),
    ("Revolute", "float state:angular:physics:position = 30", ""),
    ("Revolute", "float state:angular:physics:velocity = 30", ""),
    ("Revolute", "float newton:armature = 1", ""),
    ("Revolute", "float newton:damping = 1", ""),
    ("Revolute", "float newton:friction = 1", ""),
    ("Revolute", "float newton:velocityLimit = 10", ""),
    ("scene", "bool newton:gravityEnabled = 0", ""),
    ("scene", "int newton:maxSolverIterations = 10", ""),
    ("scene", "int newton:timeStepsPerSecond = 100", ""),
    ("scene", "bool physxScene:enableGPUDynamics = 1", ""),
    ("scene", "double mjc:option:density = 1.2", ""),
    ("scene", "double mjc:option:timestep = 0.01", ""),
)


def stage(where="", lines=""):
    """Two bodies with shapes, one of them a mesh, a joint between them."""
    at = {where: lines}.get
    drives = ' (prepend apiSchemas = ["PhysicsDriveAPI:angular"])' if where == "drive" else ""
    kind = where if where in ("Revolute", "Prismatic", "Spherical", "Distance") else "Revolute"
    solid = '(prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])'
    mesh = "int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]\n"
    mesh += "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]\n"
    return stage_text(
        f'def PhysicsScene "s" {{ {at("scene", "")} }}\n'
        f'def Material "m" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {{ {at("material", "")} }}\n'
        'def Xform "w" {\n'
        'def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {\n'
        f'{at("body", "")}\ndef Cube "c" {solid} {{ double size = 1\nrel material:binding:physics = </m>\n'
        f"{at('collider', '')} }} }}\n"
        'def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {\n'
        'double3 xformOp:translate = (3, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
        f'def Mesh "m" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {{ {mesh}'
        f"{at('mesh', '')} }} }}\n"
        f'def Physics{kind}Joint "j"{drives} {{ {JOINT}\n{at(kind, "")}\n{at("drive", "")} }} }}\n'
    )


def in_this_process(request, name):
    """In place of usd_stage.ask(), which takes a second to start a process; the stages here are ours."""
    return json.loads(json.dumps(usd_process._read(request))) | {"said": ""}


def read(text, kind="usd"):
    """(the models as plain values, the findings)."""
    diagnostics = Diagnostics(thorough=True)
    asked, usd_stage.ask = usd_stage.ask, in_this_process
    try:
        models = load_models(text.encode(), input_format=kind, diagnostics=diagnostics, name="file")
    finally:
        usd_stage.ask = asked
    return [plain(model) for model in models], diagnostics.findings


def plain(value):
    """A spec without the places of its parts."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name not in ("place", "sources")}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def attribute_of(line):
    return line.partition(" = ")[0].rpartition(" ")[2]


def outcome(where, line, needs):
    """("acts", "warning", "note" or "nothing", what the finding says)."""
    name = attribute_of(line)
    before, _ = read(stage(where, needs))
    after, findings = read(stage(where, f"{line}\n{needs}"))
    for finding in sorted(findings, key=lambda f: f.severity, reverse=True):  # a warning before a note
        if name in finding.message or (where == "Spherical" and "cone" in finding.message):
            said = re.sub(r'^"[^"]+" (is not supported)?:? ?|^\d+ values .*|<.*|file.*', "", finding.message)
            return finding.severity, said.strip()
    return ("acts", "") if before != after else ("nothing", "")


def plugin_robot(filename):
    return (
        f'<robot name="r"><link name="a"/><gazebo><plugin name="p" filename="{filename}"><x>1</x></plugin></gazebo>'
        "</robot>"
    )


def plugin_outcome(filename):
    _, findings = read(plugin_robot(filename), "urdf")
    return next((f.severity for f in findings if "<plugin>" in f.message), "nothing")


def tables():
    """The text between the marks of the page."""
    lines = []
    for title, rows in (("UsdPhysics", OF_USD_PHYSICS), ("PhysX, Newton and MuJoCo in USD", OF_EXTENSIONS)):
        lines += [f"### {title}", "", "| on | value | here | why |", "|---|---|---|---|"]
        for where, line, needs in rows:
            severity, said = outcome(where, line, needs)
            lines.append(f"| {where} | `{line}` | {severity} | {said} |")
        lines.append("")
    lines += [
        "Of other extensions a warning names what fits one of these; what fits none and has no list is one, too:",
        "",
    ]
    lines += ["| attribute | values that move nothing | what to do |", "|---|---|---|"]
    for pattern, neutral, cure in MOVES:
        name = pattern.replace("|", "\\|")
        lines.append(f"| `{name}` | {', '.join(map(str, neutral)) or '-'} | {cure} |")
    lines += ["", "### Plugins of Gazebo classic and ROS", "", "| part of the file's name | here | in its place |"]
    lines += ["|---|---|---|"]
    lines += [f"| `{part}` | {plugin_outcome(f'lib{part}.so')} | {cure} |" for part, cure in CLASSIC.items()]
    return "\n".join([*lines, ""])


def write_to_page(start, end, table):
    """Puts a table between its marks."""
    head, rest = PAGE.read_text().split(start)
    PAGE.write_text(head + start + table + end + rest.split(end)[1])


def on_page(start, end):
    """What stands between the marks of a table."""
    return PAGE.read_text().split(start)[1].split(end)[0]


if __name__ == "__main__":
    write_to_page(START, END, tables())
