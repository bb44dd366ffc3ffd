"""Small stages of USD for tests, and how they are read."""

from importlib.util import find_spec

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models

# "usd" among the parameters of a test: left out without the extra, which has a stage of its own in CI
USD = pytest.param("usd", marks=pytest.mark.skipif(find_spec("pxr") is None, reason="usd-core is not installed"))

HEAD = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = {meters}
    kilogramsPerUnit = {kilograms}
    upAxis = "{up}"
)
"""


def stage_text(body, *, meters=1.0, kilograms=1.0, up="Z"):
    """A stage; braces may stand in the line of what is in them."""
    lines = body.replace("{", "{\n").replace("}", "\n}\n")
    return HEAD.format(meters=meters, kilograms=kilograms, up=up) + lines


def read_stage(source, **options):
    """(the one ModelSpec or None, Diagnostics) of a text or path."""
    diagnostics = Diagnostics(thorough=options.pop("thorough", False))
    content = source.encode() if isinstance(source, str) and source.startswith("#usda") else source
    models = load_models(content, input_format="usd", diagnostics=diagnostics, **options)
    return (models[0] if models else None), diagnostics


def body(name, xyz, mass=1.0, inertia=(0.1, 0.2, 0.25), more="", apis="", inside=""):
    return f"""
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"{apis}])
    {{
        double3 xformOp:translate = {xyz}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float physics:mass = {mass}
        float3 physics:diagonalInertia = {inertia}
        point3f physics:centerOfMass = (0, 0, 0)
        {more}
        {inside}
    }}"""


def joint(kind, name, parent, child, pos0=(0, 0, 0), pos1=(0, 0, 0), more="", apis=""):
    ends = "".join(f"rel physics:body{k} = <{end}>\n" for k, end in enumerate((parent, child)) if end)
    schemas = f"(prepend apiSchemas = [{apis}])" if apis else ""
    return f"""
    def Physics{kind} "{name}" {schemas}
    {{
        {ends}point3f physics:localPos0 = {pos0}
        point3f physics:localPos1 = {pos1}
        {more}
    }}"""


ARM = stage_text(
    """
def PhysicsScene "scene" { vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 9.81 }
def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{"""
    + body("base", (0, 0, 0.5))
    + body(
        "arm",
        (0.3, 0, 0.5),
        mass=0.7,
        inside='def Cube "shell" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { double size = 0.2\n'
        "color3f[] primvars:displayColor = [(0.1, 0.2, 0.3)] }",
    )
    + body("slider", (0.3, 0.4, 0.5), mass=0.3)
    + joint("FixedJoint", "root", None, "/robot/base", pos0=(0, 0, 0.5))
    + joint(
        "RevoluteJoint",
        "elbow",
        "/robot/base",
        "/robot/arm",
        pos0=(0.3, 0, 0),
        apis='"NewtonJointAPI", "PhysicsDriveAPI:angular"',
        more="""uniform token physics:axis = "Y"
        float physics:lowerLimit = -90
        float physics:upperLimit = 180
        float newton:damping = 0.01
        float newton:friction = 0.2
        float newton:armature = 0.03
        float newton:velocityLimit = 90
        float drive:angular:physics:stiffness = 2
        float drive:angular:physics:damping = 0.1
        float drive:angular:physics:maxForce = 5
        float drive:angular:physics:targetPosition = 30""",
    )
    + joint(
        "PrismaticJoint",
        "slide",
        "/robot/arm",
        "/robot/slider",
        pos0=(0, 0.4, 0),
        more='uniform token physics:axis = "X"\nfloat physics:lowerLimit = -0.1\nfloat physics:upperLimit = 0.2',
    )
    + "\n}\n"
)
