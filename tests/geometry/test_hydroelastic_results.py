"""Contact surfaces where results are shown: contact results, `mbcli contact`, logs; and the same in pydrake."""

import json

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from hydroelastic_scenes import HydroelasticScene
from mbcli.parsers.scenes.file_schemas import schema_text

from mbcli import all as own
from mbcli.log.reader import Log
from mbcli.models import contact_points, contact_surfaces, load_model

RESULTS = jsonschema.Draft202012Validator(json.loads(schema_text("results")))
BALL = """<robot name="{name}" xmlns:drake="http://drake.mit.edu"><link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial><collision name="skin"><geometry>
<sphere radius="0.1"/></geometry><drake:proximity_properties><drake:mu_static value="0.5"/>
<drake:mesh_resolution_hint value="0.03"/>{kind}</drake:proximity_properties></collision></link></robot>"""
AT = ("--at", "soft_z=0.09", "--at", "hard_z=0.095", "--at", "hard_x=1")
SOFT = '<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="1e5"/>'


@pytest.fixture
def drake():
    import pydrake.all

    return pydrake.all


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A soft and an ordinary ball on the ground, as files."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    paths = []
    for name, kind in (("soft", SOFT), ("hard", "")):
        paths.append(tmp_path / f"{name}.urdf")
        paths[-1].write_text(BALL.format(name=name, kind=kind))
    return [*paths, "--ground", *AT, "--set", "plant_config.penetration_allowance=1e-3"]


def plant_of(lib, step, surface, ground_first=False):
    """A tilted soft ellipsoid and a rigid ball in it, on a rigid half space; its context."""
    builder = lib.DiagramBuilder()
    config = lib.MultibodyPlantConfig(
        time_step=step, contact_model="hydroelastic", contact_surface_representation=surface
    )
    config.use_sampled_output_ports, config.stiction_tolerance = False, 1e-3
    plant, graph = lib.AddMultibodyPlant(config, builder)

    def properties(kind):
        result = lib.ProximityProperties()
        friction = lib.CoulombFriction(0.5, 0.5)
        lib.AddContactMaterial(dissipation=0.0, friction=friction, properties=result)
        result.AddProperty("material", "relaxation_time", 0.0)
        if kind == "soft":
            lib.AddCompliantHydroelasticProperties(0.04, 1e6, result)
        else:
            lib.AddRigidHydroelasticProperties(0.05, result)
        return result

    def add_ground():
        plant.RegisterCollisionGeometry(
            plant.world_body(), lib.RigidTransform(), lib.HalfSpace(), "ground", properties("rigid")
        )

    if ground_first:
        add_ground()
    for name, shape, kind in (("soft", lib.Ellipsoid(0.1, 0.12, 0.08), "soft"), ("hard", lib.Sphere(0.06), "rigid")):
        body = plant.AddRigidBody(name, lib.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        plant.RegisterCollisionGeometry(body, lib.RigidTransform(), shape, name, properties(kind))
    if not ground_first:
        add_ground()
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    for name, p, rpy in (("soft", [0.02, 0.01, 0.08], (0.2, 0.1, 0.4)), ("hard", [0.03, 0.0, 0.21], (0, 0, 0))):
        X = lib.RigidTransform(lib.RollPitchYaw(*rpy), p)
        plant.SetFreeBodyPose(context, plant.GetBodyByName(name), X)
    return plant, context, graph


def infos_of(plant, context):
    results = plant.get_contact_results_output_port().Eval(context)
    return [results.hydroelastic_contact_info(i) for i in range(results.num_hydroelastic_contacts())], results


# ------------------------------------------------------------------------------------- beside pydrake


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("ground_first", [False, True])
@pytest.mark.parametrize("surface", ["triangle", "polygon"])
@pytest.mark.parametrize("step", [0.0, 1e-3])
def test_contact_results_are_those_of_pydrake(drake, monkeypatch, step, surface, ground_first):
    monkeypatch.setenv("MBCLI_JIT", "0")
    found = []
    for lib in (own, drake):
        plant, context, graph = plant_of(lib, step, surface, ground_first)
        found.append((infos_of(plant, context)[0], graph.model_inspector(), plant, context))
    (ours, names, plant, context), (theirs, their_names, their_plant, their_context) = found
    assert len(ours) == len(theirs) == 2
    for info, other in zip(ours, theirs, strict=True):
        s, t = info.contact_surface(), other.contact_surface()
        pairs = [[n.GetName(x.id_M()), n.GetName(x.id_N())] for n, x in ((names, s), (their_names, t))]
        assert pairs[0] == pairs[1]
        assert (s.HasGradE_M(), s.HasGradE_N(), s.is_triangle()) == (t.HasGradE_M(), t.HasGradE_N(), t.is_triangle())
        assert s.representation().name == t.representation().name
        assert s.total_area() == pytest.approx(t.total_area(), rel=1e-9)
        np.testing.assert_allclose(s.centroid(), t.centroid(), atol=1e-9)
        solved = 1e-5 if step else 1e-7  # to what solvers of discrete steps leave
        np.testing.assert_allclose(info.F_Ac_W().get_coeffs(), other.F_Ac_W().get_coeffs(), rtol=1e-6, atol=solved)
        if surface == "triangle":
            largest = [max(x.tri_e_MN().EvaluateAtVertex(v) for v in range(x.num_vertices())) for x in (s, t)]
        else:
            largest = [max(x.poly_e_MN().EvaluateAtVertex(v) for v in range(x.num_vertices())) for x in (s, t)]
        assert largest[0] == pytest.approx(largest[1], rel=1e-9)
        assert info.largest_pressure() == pytest.approx(largest[0], rel=1e-12)
        if s.num_faces() == t.num_faces():  # up to faces without area and the order
            assert s.num_vertices() == t.num_vertices()
            order = [np.lexsort(np.round([x.centroid(k) for k in range(x.num_faces())], 9).T) for x in (s, t)]
            for k, j in zip(*order, strict=True):
                assert s.area(int(k)) == pytest.approx(t.area(int(j)), rel=1e-6, abs=1e-12)
                np.testing.assert_allclose(s.face_normal(int(k)), t.face_normal(int(j)), atol=1e-6)
                for name in ("M", "N"):
                    if getattr(s, f"HasGradE_{name}")():
                        gradients = [getattr(x, f"EvaluateGradE_{name}_W")(int(i)) for x, i in ((s, k), (t, j))]
                        np.testing.assert_allclose(*gradients, rtol=1e-6, atol=1.0)
    port = "get_generalized_contact_forces_output_port"
    tau = [
        getattr(p, port)(p.GetModelInstanceByName("DefaultModelInstance")).Eval(c)
        for p, c in ((plant, context), (their_plant, their_context))
    ]
    np.testing.assert_allclose(*tau, rtol=1e-6, atol=1e-5)
    accelerations = [
        p.get_generalized_acceleration_output_port().Eval(c)
        for p, c in ((plant, context), (their_plant, their_context))
    ]
    np.testing.assert_allclose(*accelerations, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("step", [0.0, 1e-3])
def test_reaction_forces_and_generalized_forces_balance_contact_surfaces(monkeypatch, step):
    """What the surfaces do, their spatial forces on A and the opposite on B, is what the plant's equations have."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    plant, context, graph = plant_of(own, step, "polygon")
    infos, results = infos_of(plant, context)
    names, expected = graph.model_inspector(), np.zeros(plant.num_velocities())
    for info in infos:
        surface, F = info.contact_surface(), info.F_Ac_W()
        for g, sign in ((surface.id_M(), 1.0), (surface.id_N(), -1.0)):
            body = plant.GetBodyFromFrameId(names.GetFrameId(g))
            if body.name() == "WorldBody" or int(body.index()) == 0:
                continue
            p = surface.centroid() - body.EvalPoseInWorld(context).translation()
            first = body.floating_velocities_start_in_v()
            f = sign * F.translational()
            expected[first : first + 6] += np.concatenate([sign * F.rotational() + np.cross(p, f), f])
    port = plant.get_generalized_contact_forces_output_port(plant.GetModelInstanceByName("DefaultModelInstance"))
    np.testing.assert_allclose(port.Eval(context), expected, rtol=1e-9, atol=1e-9)
    assert np.abs(expected).max() > 10.0
    chosen = results.SelectHydroelastic(lambda info: info.contact_surface().total_area() < 0.0)
    assert (chosen.num_hydroelastic_contacts(), results.num_hydroelastic_contacts()) == (0, 2)
    # the joints with World carry nothing: all the force of a floating body is that of its contacts and its weight
    vdot = plant.get_generalized_acceleration_output_port().Eval(context)
    M = plant.CalcMassMatrix(context)
    np.testing.assert_allclose(M @ vdot, expected + plant.CalcGravityGeneralizedForces(context), rtol=1e-6, atol=1e-5)


def leaning_pendulum(lib, step):
    """A pendulum with a soft ball of 1 kg that leans on the ground and comes up from it; its scene and joint."""
    scene = HydroelasticScene(lib, step)
    material = {"modulus": 1e6, "hint": 0.03, "dissipation": 1.0, "relaxation": 0.01}
    scene.add(("Sphere", 0.1), {"kind": "soft", **material})
    scene.fix(("HalfSpace",), {"kind": "rigid"})
    plant = scene.plant
    body = plant.GetBodyByName("b")
    X_WF, X_BM = lib.RigidTransform([0.0, 0.0, 0.095]), lib.RigidTransform([-0.5, 0.0, 0.0])
    F = plant.AddFrame(lib.FixedOffsetFrame("F", plant.world_frame(), X_WF))
    M = plant.AddFrame(lib.FixedOffsetFrame("M", body.body_frame(), X_BM))
    joint = plant.AddJoint(lib.RevoluteJoint("hinge", F, M, [0.0, 1.0, 0.0]))
    scene.start()
    joint.set_angular_rate(scene.context, -0.1)
    return scene, joint


@pytest.mark.peers("pydrake")
def test_reaction_forces_in_a_step_hold_contact_surfaces_as_in_pydrake(drake, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    found = []
    for lib in (own, drake):
        scene, _ = leaning_pendulum(lib, 1e-3)
        assert len(scene.surfaces()) == 1
        found.append(scene.plant.get_reaction_forces_output_port().Eval(scene.context)[0].get_coeffs())
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-4)
    assert np.linalg.norm(found[0]) > 10.0


def test_reaction_forces_weight_and_contact_surfaces_accelerate_a_body(monkeypatch):
    """In a continuous plant: about the free axis of the joint there is no moment, and m a is the sum of all forces."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    scene, _ = leaning_pendulum(own, 0.0)
    plant, context = scene.plant, scene.context
    reaction = plant.get_reaction_forces_output_port().Eval(context)[0]
    assert abs(reaction.rotational()[1]) < 1e-12
    (info,) = scene.surfaces()
    on_body = info.F_Ac_W().translational()
    accelerations = plant.get_body_spatial_accelerations_output_port().Eval(context)
    a = accelerations[int(plant.GetBodyByName("b").index())].translational()
    np.testing.assert_allclose(a, reaction.translational() + on_body + [0, 0, -9.81], atol=1e-9)
    assert on_body[2] > 20.0


# --------------------------------------------------------------------------------------- commands


def test_the_command_shows_points_and_surfaces(scene):
    document = succeed("contact", *scene, "--json", "--faces").json()
    RESULTS.validate(document)
    (point,), (surface,) = document["point_pairs"], document["surfaces"]
    assert (point["body_b"], surface["body_a"], surface["body_b"]) == ("hard::hard", "world", "soft::soft")
    assert (surface["geometry_a"], surface["geometry_b"]) == ("ground", "soft::skin")
    corners = [np.array(polygon) for polygon in surface["polygons"]]
    assert len(corners) == surface["faces"] > 10
    meshes = [own.PolygonSurfaceMesh([len(c), *range(len(c))], c[:, :3]) for c in corners]
    assert surface["area"] == pytest.approx(sum(mesh.total_area() for mesh in meshes))
    np.testing.assert_allclose([mesh.face_normal(0) for mesh in meshes], [[0, 0, -1]] * len(meshes), atol=1e-9)
    assert (
        surface["largest_pressure"] == pytest.approx(1e4) and pytest.approx(max(c[:, 3].max() for c in corners)) == 1e4
    )
    assert surface["force_W"][2] == pytest.approx(surface["mean_pressure"] * surface["area"])
    np.testing.assert_allclose(surface["centroid_W"], 0.0, atol=1e-9)
    np.testing.assert_allclose(surface["moment_W"], 0.0, atol=1e-9)
    assert "polygons" not in succeed("contact", *scene, "--json").json()["surfaces"][0]
    text = succeed("contact", *scene).out
    assert "mean pressure [Pa]" in text and "depth [m]" in text


def test_python_gives_what_the_command_prints(scene):
    context = load_model(scene[:2], contact=True, ground=0.0).plant.CreateDefaultContext()
    plant = context.state.plant
    for name, p in (("soft", [0, 0, 0.09]), ("hard", [1, 0, 0.095])):
        plant.SetFreeBodyPose(context, plant.GetBodyByName(name), own.RigidTransform(p))
    printed = succeed("contact", *scene, "--json", "--faces").json()
    found = json.loads(json.dumps(contact_surfaces(context, faces=True), default=np.ndarray.tolist))
    assert found == printed["surfaces"] and len(contact_points(context)) == 1


def test_a_log_has_surfaces_beside_points(scene, tmp_path):
    path = tmp_path / "run.h5"
    succeed("simulate", *scene, "--duration", "0.004", "--log-rate", "1000", "-o", path)
    with Log(path) as log:
        contacts, names = log.contacts(), log.contact_names()
    first, last = contacts["offset"][0], contacts["offset"][1]
    rows = {key: value[first:last] for key, value in contacts.items() if key != "offset"}
    is_surface = rows["contact/faces"] > 0
    assert list(is_surface) in ([True, False], [False, True]) and names.surfaces
    k, j = int(np.flatnonzero(is_surface)[0]), int(np.flatnonzero(~is_surface)[0])
    (surface,) = succeed("contact", *scene, "--json").json()["surfaces"]
    assert rows["contact/area"][k] == pytest.approx(surface["area"]) and rows["contact/area"][j] == 0.0
    np.testing.assert_allclose(rows["contact/point"][k], surface["centroid_W"], atol=1e-12)
    assert rows["contact/mean_pressure"][k] == pytest.approx(surface["mean_pressure"])
    assert rows["contact/largest_pressure"][k] == pytest.approx(surface["largest_pressure"])
    assert rows["contact/faces"][k] == surface["faces"] and 0.008 < rows["contact/depth"][k] <= 0.01
    assert names.body_names[rows["contact/body_b"][k]] == "soft::soft"
    assert abs(rows["contact/force"][k][2]) == pytest.approx(surface["force_W"][2], rel=0.2)  # of the step
    np.testing.assert_allclose(np.abs(rows["contact/normal"][k]), [0, 0, 1], atol=1e-12)
    out = succeed("log", "export", path, "--to", "csv", "--fields", "contact").out
    header = out.splitlines()[0].split(",")
    assert {"area", "faces", "moment:z"} <= set(header) and len(out.splitlines()) == 1 + 2 * 5
    assert "contact/largest_pressure" in succeed("log", "info", path).out


def test_a_log_of_points_alone_has_no_columns_of_surfaces(scene, tmp_path):
    path = tmp_path / "run.h5"
    succeed("simulate", scene[1], "--ground", "--duration", "0.002", "-o", path)
    with Log(path) as log:
        assert not log.contact_names().surfaces and "contact/area" not in log.contacts()


def test_resumed_runs_keep_their_surfaces(scene, tmp_path):
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    succeed("simulate", *scene, "--duration", "0.004", "--log-rate", "1000", "-o", whole)
    succeed("simulate", *scene, "--duration", "0.002", "--log-rate", "1000", "-o", part)
    options = [*scene[:3], *scene[-2:], "--duration", "0.004", "--log-rate", "1000"]
    succeed("simulate", *options, "--resume", part, "-o", tmp_path / "rest.h5")
    with Log(whole) as a, Log(tmp_path / "rest.h5") as b:
        first, second = a.contacts(), b.contacts()
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def test_inspect_shows_what_geometries_are(scene, tmp_path):
    slab = tmp_path / "slab.sdf"
    slab.write_text(
        '<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="slab"><static>1</static><link name="l">'
        '<collision name="c"><geometry><plane/></geometry><drake:proximity_properties><drake:compliant_hydroelastic/>'
        "<drake:hydroelastic_modulus>1e6</drake:hydroelastic_modulus><drake:slab_thickness>0.1</drake:slab_thickness>"
        "<drake:hydroelastic_margin>1e-4</drake:hydroelastic_margin></drake:proximity_properties></collision>"
        '<collision name="d"><geometry><box><size>1 1 1</size></box></geometry><drake:proximity_properties>'
        "<drake:rigid_hydroelastic/></drake:proximity_properties></collision></link></model></sdf>"
    )
    document = succeed("inspect", *scene[:2], slab, "--geometry", "--json").json()
    RESULTS.validate(document)
    found = {row["geometry"]: row for row in document["geometries"]}
    soft, hard, plane, box = (found[name] for name in ("soft::skin", "hard::skin", "slab::c", "slab::d"))
    assert (soft["compliance"], soft["modulus"], soft["resolution_hint"]) == ("compliant", 1e5, 0.03)
    assert soft["tetrahedra"] > 100 and soft["triangles"] is None and hard["compliance"] == "undefined"
    assert (plane["slab_thickness"], plane["margin"], plane["tetrahedra"]) == (0.1, 1e-4, None)
    assert (box["compliance"], box["triangles"], box["modulus"]) == ("rigid", 12, None)
    text = succeed("inspect", *scene[:2], slab, "--geometry").out
    assert "512 tetrahedra" in text and "12 triangles" in text
    setting = "scene_graph_config.default_proximity_properties.compliance_type=compliant"
    row = succeed("inspect", scene[1], "--geometry", "--json", "--set", setting).json()["geometries"][0]
    assert (row["compliance"], row["modulus"]) == ("compliant", 1e7)
    assert cli("inspect", scene[0], "--geometry", "--tree", "dot").code == 2
    assert cli("contact", *scene, "--faces").code == 2


def test_a_mesh_that_is_filled_only_nearly_says_so_where_contact_is_simplified(tmp_path, monkeypatch):
    from mbcli.geometry import hydroelastic_shapes
    from mbcli.meshes.soft_solid import SoftSolid
    from mbcli.models.loading import load_model, notes_on_contact
    from mbcli.multibody.compilation import compile_surfaces

    made = hydroelastic_shapes.soft_solid_of

    def nearly(shape, hint=None):
        solid = made(shape, hint)
        return SoftSolid(solid.vertices, solid.tetrahedra, solid.extent, "its edges are blunt")

    monkeypatch.setattr(compile_surfaces, "soft_solid_of", nearly)
    (tmp_path / "brick.urdf").write_text(
        '<robot name="brick" xmlns:drake="http://drake.mit.edu"><link name="brick"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision name="side"><geometry>'
        '<box size="1 1 1"/></geometry><drake:proximity_properties><drake:compliant_hydroelastic/>'
        '<drake:hydroelastic_modulus value="1e6"/></drake:proximity_properties></collision></link></robot>'
    )
    loaded = load_model([str(tmp_path / "brick.urdf")], contact=True, ground=0.0)
    notes = notes_on_contact(loaded)
    assert len(notes) == 1 and "brick::side': its edges are blunt" in notes[0], notes
