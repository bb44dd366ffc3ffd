"""Every way in which a format gives a shape: the body that has it lands on the ground, or a warning says why not."""

import importlib.util

import pytest

from mbcli.models import load_model
from mbcli.simulation import simulate

HEIGHT = 0.5  # [m] of the lowest point of each shape above the ground
POINTS = "0 0 0  .2 0 0  0 .3 0  0 0 .4"
FACES = "0 2 1  0 1 3  0 3 2  1 2 3"
OBJ = "v 0 0 0\nv .2 0 0\nv 0 .3 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
STL = (
    "solid s\n"
    + "".join(
        f"facet normal 0 0 0\nouter loop\n{''.join(f'vertex {p}' + chr(10) for p in facet)}endloop\nendfacet\n"
        for facet in (
            ("0 0 0", "0 .3 0", ".2 0 0"),
            ("0 0 0", ".2 0 0", "0 0 .4"),
            ("0 0 0", "0 0 .4", "0 .3 0"),
            (".2 0 0", "0 .3 0", "0 0 .4"),
        )
    )
    + "endsolid s\n"
)


def mjcf(geom, assets=""):
    return f"""<mujoco><asset>{assets}</asset><worldbody><body name="b" pos="0 0 {HEIGHT}"><freejoint/>
        <inertial pos="0 0 .05" mass="1" diaginertia=".01 .01 .01"/>{geom}</body></worldbody></mujoco>"""


def urdf(geometry):
    return f"""<robot name="r"><link name="b"><inertial><origin xyz="0 0 .05"/><mass value="1"/>
        <inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry>{geometry}</geometry></collision></link></robot>"""


def sdf(geometry):
    return f"""<sdf version="1.10"><model name="m"><link name="b"><inertial><pose>0 0 .05 0 0 0</pose><mass>1</mass>
        <inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial>
        <collision name="c"><geometry>{geometry}</geometry></collision></link></model></sdf>"""


def usd(kind, attributes, applied=""):
    return f"""#usda 1.0
(
    defaultPrim = "w"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "w" {{
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.01, 0.01, 0.01)
        point3f physics:centerOfMass = (0, 0, 0.05)
        def {kind} "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"{applied}] ) {{
            {attributes}
        }}
    }}
}}
"""


MESH = '<mesh name="t" {}/>'
USES = '<geom type="mesh" mesh="t"/>'
WAYS = {
    "mjcf sphere": mjcf('<geom type="sphere" size=".1"/>'),
    "mjcf default type": mjcf('<geom size=".1"/>'),
    "mjcf capsule": mjcf('<geom type="capsule" size=".05 .1"/>'),
    "mjcf capsule fromto": mjcf('<geom type="capsule" size=".05" fromto="0 0 0 .2 0 0"/>'),
    "mjcf cylinder": mjcf('<geom type="cylinder" size=".05 .1"/>'),
    "mjcf ellipsoid": mjcf('<geom type="ellipsoid" size=".05 .1 .08"/>'),
    "mjcf box": mjcf('<geom type="box" size=".05 .1 .08"/>'),
    "mjcf box fromto": mjcf('<geom type="box" size=".05" fromto="0 0 0 .2 0 0"/>'),
    "mjcf mesh obj": mjcf(USES, MESH.format('file="t.obj"')),
    "mjcf mesh stl": mjcf(USES, MESH.format('file="t.stl"')),
    "mjcf vertex": mjcf(USES, MESH.format(f'vertex="{POINTS}"')),
    "mjcf vertex and face": mjcf(USES, MESH.format(f'vertex="{POINTS}" face="{FACES}"')),
    "mjcf vertex, scaled and moved": mjcf(USES, MESH.format(f'vertex="{POINTS}" scale="2 1 1" refpos="0 0 .1"')),
    "mjcf vertex, mirrored": mjcf(USES, MESH.format(f'vertex="{POINTS}" face="{FACES}" scale="1 1 -1"')),
    "mjcf vertex, geom without type": mjcf('<geom mesh="t" type="sphere"/>', MESH.format(f'vertex="{POINTS}"')),
    "mjcf box fitted to vertices": mjcf('<geom mesh="t" type="box"/>', MESH.format(f'vertex="{POINTS}"')),
    "mjcf sdf of a mesh": mjcf('<geom type="sdf" mesh="t"/>', MESH.format(f'vertex="{POINTS}"')),
    "urdf box": urdf('<box size=".1 .2 .3"/>'),
    "urdf sphere": urdf('<sphere radius=".1"/>'),
    "urdf cylinder": urdf('<cylinder radius=".1" length=".2"/>'),
    "urdf capsule": urdf('<capsule radius=".1" length=".2"/>'),
    "urdf mesh obj": urdf('<mesh filename="t.obj"/>'),
    "urdf mesh stl": urdf('<mesh filename="t.stl" scale="2 1 1"/>'),
    "sdf box": sdf("<box><size>.1 .2 .3</size></box>"),
    "sdf sphere": sdf("<sphere><radius>.1</radius></sphere>"),
    "sdf cylinder": sdf("<cylinder><radius>.1</radius><length>.2</length></cylinder>"),
    "sdf capsule": sdf("<capsule><radius>.1</radius><length>.2</length></capsule>"),
    "sdf cone": sdf("<cone><radius>.1</radius><length>.2</length></cone>"),
    "sdf ellipsoid": sdf("<ellipsoid><radii>.1 .2 .15</radii></ellipsoid>"),
    "sdf mesh": sdf("<mesh><uri>t.obj</uri></mesh>"),
    "sdf polyline": sdf(
        "<polyline><point>0 0</point><point>.2 0</point><point>0 .2</point><height>.1</height></polyline>"
    ),
    "usd Cube": usd("Cube", "double size = 0.2"),
    "usd Sphere": usd("Sphere", "double radius = 0.1"),
    "usd Cylinder": usd("Cylinder", "double radius = 0.1\ndouble height = 0.2"),
    "usd Cylinder_1": usd("Cylinder_1", "double radiusBottom = 0.1\ndouble radiusTop = 0.1\ndouble height = 0.2"),
    "usd Capsule": usd("Capsule", "double radius = 0.1\ndouble height = 0.2"),
    "usd Cone": usd("Cone", "double radius = 0.1\ndouble height = 0.2"),
    **{
        f"usd Mesh {approximation}": usd(
            "Mesh",
            f"""int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [{", ".join(FACES.split())}]
            point3f[] points = [(0, 0, 0), (0.2, 0, 0), (0, 0.3, 0), (0, 0, 0.4)]
            uniform token physics:approximation = "{approximation}\"""",
            ', "PhysicsMeshCollisionAPI"',
        )
        for approximation in ("none", "convexHull", "boundingCube", "boundingSphere", "convexDecomposition")
    },
}
# what is said of shapes with which nothing collides
TOLD = {
    "mjcf builtin mesh": (mjcf(USES, MESH.format('builtin="sphere" params="2"')), "builtin"),
    "mjcf mesh of nothing": (mjcf(USES, MESH.format("")), "without file and vertices"),
    "sdf heightmap": (sdf("<heightmap><uri>h.tif</uri></heightmap>"), "h.tif"),
    "sdf image": (sdf("<image><uri>h.png</uri></image>"), "image"),
    "usd TetMesh": (usd("TetMesh", "point3f[] points = [(0,0,0),(1,0,0),(0,1,0),(0,0,1)]"), "TetMesh"),
    "usd Points": (usd("Points", "point3f[] points = [(0,0,0)]"), "Points"),
}


def loaded(tmp_path, way, text):
    if way.startswith("usd") and importlib.util.find_spec("pxr") is None:
        pytest.skip("needs usd-core")
    (tmp_path / "t.obj").write_text(OBJ)
    (tmp_path / "t.stl").write_text(STL)
    path = (
        tmp_path / f"model.{'usda' if way.startswith('usd') else 'xml' if way.startswith('mjcf') else way.split()[0]}"
    )
    path.write_text(text)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_body_lands_on_its_shape(way, tmp_path):
    path = loaded(tmp_path, way, WAYS[way])
    plant = load_model(path, contact=True).plant
    (height,) = (name for name in plant.GetPositionNames() if name.endswith("_z") and not name.endswith("_qz"))
    log = simulate(path, until=1.0, ground=0.0, start={height: HEIGHT}, log=tmp_path / "run.h5")
    assert log.column(height)[0] > log.column(height)[-1] > -0.5  # falling freely it is at -4.4
    assert log.summary.contact["most_contacts"] > 0


@pytest.mark.parametrize("way", TOLD)
def test_a_shape_with_which_nothing_collides_is_a_warning(way, tmp_path):
    text, said = TOLD[way]
    found = load_model(loaded(tmp_path, way, text), contact=True).diagnostics.findings
    assert any(said in finding.message and finding.severity != "note" for finding in found), list(map(str, found))
