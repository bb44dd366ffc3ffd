"""Frames of an SDFormat model: closed-form poses, faults with their chains, random graphs against an oracle and
pydrake."""

from math import cos, pi, sin

import numpy as np
import pytest
from mbcli.parsers.cycles import find_cycles
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.frame_names import MODEL, WORLD, is_reserved
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.sdf.sdf_frames import FrameGraph, FrameScope
from mbcli.parsers.spec import IDENTITY, pose

TOLERANCE = 1e-12  # poses are a handful of products of numbers of order 1


def shift(x, y=0.0, z=0.0):
    return pose(None, (x, y, z))


def turn_z(angle, *p):
    rotation = [[cos(angle), -sin(angle), 0], [sin(angle), cos(angle), 0], [0, 0, 1]]
    return pose(rotation, p or None)


def assert_pose(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE)


def codes(graph):
    return [(fault.code, fault.frame) for fault in graph.resolve()]


class ModelFrames(FrameScope):
    """The frames of one model as a file with no other one has them; filled, then resolved."""

    def __init__(self, *, canonical_link=None, placement_frame=None, X_WPlacement=IDENTITY):
        inner = FrameScope(FrameGraph()).add_model(MODEL, X=X_WPlacement)
        super().__init__(inner.graph, inner.prefix, inner.model)
        self.placement_frame = placement_frame
        self.stated = canonical_link
        self.first_link = None

    def add_link(self, name, **options):
        self.first_link = self.first_link or name
        super().add_link(name, **options)

    def resolve(self):
        link = self.stated or self.first_link
        if link:
            self.attach_model(link, stated=self.stated is not None)
        if self.placement_frame:
            self.place(self.placement_frame)
        return self.graph.resolve()


# ------------------------------------------------------------------------------------------ closed forms


def test_defaults_link_in_model_joint_in_child_frame_in_what_it_is_attached_to():
    graph = ModelFrames()
    graph.add_link("a", X=shift(1))
    graph.add_link("b", X=turn_z(pi / 2, 0, 2, 0))
    graph.add_joint("j", "b", X=shift(3))
    graph.add_frame("f", X=shift(4))
    graph.add_frame("g", attached_to="j", X=shift(5))
    assert graph.resolve() == ()
    assert_pose(graph.X_AB(MODEL, "a"), shift(1))
    assert_pose(graph.X_AB("b", "j"), shift(3))
    assert_pose(graph.X_AB(MODEL, "j"), turn_z(pi / 2, 0, 5, 0))
    assert_pose(graph.X_AB("a", "f"), shift(3))
    assert_pose(graph.X_AB(MODEL, "g"), turn_z(pi / 2, 0, 10, 0))
    assert [graph.link_of(name) for name in ("a", "b", "j", "f", "g", MODEL, WORLD)] == [
        *("a", "b", "b", "a", "b", "a", WORLD)
    ]
    assert graph.canonical_link == "a"


def test_relative_to_changes_the_pose_and_not_the_attachment():
    graph = ModelFrames()
    graph.add_frame("f", attached_to="a", relative_to="b", X=shift(0, 0, 1))
    graph.add_link("a", relative_to="b", X=shift(1))
    graph.add_link("b", X=turn_z(pi / 2))
    assert graph.resolve() == ()
    assert graph.link_of("f") == "a"
    assert_pose(graph.X_AB("a", "f"), shift(-1, 0, 1))
    assert_pose(graph.X_AB(MODEL, "a"), turn_z(pi / 2, 0, 1, 0))


def test_a_joint_on_a_child_frame_is_on_that_frames_link():
    graph = ModelFrames()
    graph.add_link("a")
    graph.add_frame("f", attached_to="a", X=shift(1))
    graph.add_joint("j", "f", X=shift(0, 2))
    assert graph.resolve() == ()
    assert graph.link_of("j") == "a"
    assert_pose(graph.X_AB("a", "j"), shift(1, 2))


def test_world_is_where_the_models_pose_says():
    graph = ModelFrames(X_WPlacement=turn_z(pi / 2, 5, 0, 0))
    graph.add_link("a", X=shift(1))
    graph.add_frame("w", attached_to=WORLD, X=shift(0, 7))
    graph.add_frame("m", attached_to=WORLD, relative_to=MODEL)
    assert graph.resolve() == ()
    assert graph.link_of("w") == WORLD
    assert_pose(graph.X_WModel, turn_z(pi / 2, 5, 0, 0))
    assert_pose(graph.X_AB(WORLD, "a"), turn_z(pi / 2, 5, 1, 0))
    assert_pose(graph.X_AB(WORLD, "w"), shift(0, 7))
    assert_pose(graph.X_AB(WORLD, "m"), turn_z(pi / 2, 5, 0, 0))
    assert_pose(graph.X_AB("a", WORLD), turn_z(-pi / 2, -1, 5, 0))


def test_the_placement_frame_lands_on_the_models_pose():
    graph = ModelFrames(X_WPlacement=turn_z(1.0, 5, 0, 0), placement_frame="f")
    graph.add_link("a", X=turn_z(0.5, 1, 0, 0))
    graph.add_frame("f", attached_to="a", X=shift(0, 0, 1))
    assert graph.resolve() == ()
    assert_pose(graph.X_AB(WORLD, "f"), turn_z(1.0, 5, 0, 0))
    assert_pose(graph.X_WModel, turn_z(0.5, 5 - cos(0.5), -sin(0.5), -1))


def test_a_pose_given_in_a_link_is_exact_wherever_the_link_is():
    far = pose(turn_z(0.3)[:3, :3], (1e6, -2e6, 3e5))
    graph = ModelFrames(X_WPlacement=far)
    graph.add_link("a", X=far)
    graph.add_joint("j", "a")
    graph.add_frame("f", attached_to="a", X=shift(0.1))
    assert graph.resolve() == ()
    assert np.array_equal(graph.X_AB("a", "j"), IDENTITY)
    assert np.array_equal(graph.X_AB("a", "f"), shift(0.1))
    assert np.array_equal(graph.X_WModel, far)


def test_a_model_without_links_is_fixed_to_the_world():
    graph = ModelFrames(X_WPlacement=shift(1))
    graph.add_frame("f", X=shift(2))
    assert graph.resolve() == ()
    assert graph.link_of("f") == WORLD
    assert_pose(graph.X_AB(WORLD, "f"), shift(3))


def test_the_canonical_link_is_the_first_unless_named():
    graph = ModelFrames(canonical_link="b")
    graph.add_link("a")
    graph.add_link("b")
    assert graph.resolve() == ()
    assert graph.link_of(MODEL) == "b"


# ----------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("name", "reserved"),
    [("world", True), ("__model__", True), ("____", True), ("__a", False), ("a__", False), ("World", False)],
)
def test_reserved_names(name, reserved):
    assert is_reserved(name) is reserved


def graph_with_a(**options):
    graph = ModelFrames(**options)
    graph.add_link("a")
    return graph


def test_an_unknown_attached_to_is_reported_once_although_the_pose_is_in_it_by_default():
    graph = graph_with_a()
    graph.add_frame("f", attached_to="nope")
    assert codes(graph) == [("FRAME_ATTACHED_TO_INVALID", "f")]
    assert graph.link_of("f") is None
    assert graph.X_AB("a", "f") is IDENTITY


def test_frames_on_a_faulty_frame_are_not_reported_themselves():
    graph = graph_with_a()
    graph.add_frame("f", attached_to="nope")
    graph.add_frame("g", attached_to="f")
    assert codes(graph) == [("FRAME_ATTACHED_TO_INVALID", "f")]
    assert graph.link_of("g") is None


@pytest.mark.parametrize(
    ("add", "fault"),
    [
        (lambda g: g.add_frame("f", relative_to="nope"), ("POSE_RELATIVE_TO_INVALID", "f")),
        (lambda g: g.add_link("b", relative_to="nope"), ("POSE_RELATIVE_TO_INVALID", "b")),
        (lambda g: g.add_joint("j", "nope"), ("JOINT_CHILD_LINK_INVALID", "j")),
        (lambda g: g.add_joint("j", "a", relative_to="nope"), ("POSE_RELATIVE_TO_INVALID", "j")),
        (lambda g: g.add_frame("f", attached_to="f"), ("FRAME_ATTACHED_TO_CYCLE", "f")),
        (lambda g: g.add_frame("f", relative_to="f"), ("POSE_RELATIVE_TO_CYCLE", "f")),
    ],
)
def test_one_fault_has_one_report(add, fault):
    graph = graph_with_a()
    add(graph)
    assert codes(graph) == [fault]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"canonical_link": "nope"}, ("MODEL_CANONICAL_LINK_INVALID", MODEL)),
        ({"canonical_link": "f"}, ("MODEL_CANONICAL_LINK_INVALID", MODEL)),
        ({"canonical_link": WORLD}, ("MODEL_CANONICAL_LINK_INVALID", MODEL)),
        ({"placement_frame": "nope"}, ("MODEL_PLACEMENT_FRAME_INVALID", MODEL)),
    ],
)
def test_the_models_own_references_must_be_there(options, fault):
    graph = graph_with_a(**options)
    graph.add_frame("f", attached_to="a")
    assert codes(graph) == [fault]


def test_a_cycle_is_reported_whole_from_its_first_frame_in_the_file():
    graph = graph_with_a()
    graph.add_frame("into", attached_to="g")
    graph.add_frame("f", attached_to="h")
    graph.add_frame("g", attached_to="f")
    graph.add_frame("h", attached_to="g")
    (fault,) = graph.resolve()
    assert fault.code == "FRAME_ATTACHED_TO_CYCLE"
    assert fault.message.endswith('"f" -> "h" -> "g" -> "f"')


def test_a_pose_cycle_through_links_and_a_joint():
    graph = graph_with_a()
    graph.add_link("b", relative_to="j")
    graph.add_joint("j", "b")
    (fault,) = graph.resolve()
    assert fault.code == "POSE_RELATIVE_TO_CYCLE"
    assert fault.message.endswith('"b" -> "j" -> "b"')
    assert graph.link_of("j") == "b"  # what it is attached to is sound


def test_a_placement_frame_must_be_given_relative_to_its_model():
    graph = graph_with_a(placement_frame="f")
    graph.add_frame("f", relative_to=WORLD)
    assert codes(graph) == [("MODEL_PLACEMENT_FRAME_INVALID", MODEL)]


def test_a_chain_of_ten_thousand_frames_needs_no_recursion():
    graph = graph_with_a()
    for i in range(10_000):
        graph.add_frame(f"f{i}", attached_to=f"f{i - 1}" if i else "a", X=shift(1))
    assert graph.resolve() == ()
    assert graph.link_of("f9999") == "a"
    assert graph.X_AB(MODEL, "f9999")[0, 3] == 10_000


def test_cycles_of_arrows():
    assert find_cycles({"a": "b", "b": None, "c": "a", "d": "gone"}) == []
    assert find_cycles({"x": "a", "a": "b", "b": "a", "c": "c"}) == [["a", "b"], ["c"]]


# ---------------------------------------------------------------------------------------- random graphs


def random_pose(rng):
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return pose(rotation, rng.normal(size=3))


def random_elements(rng, count=14):
    """Dictionaries of elements that refer to earlier ones only, then shuffled; the link l0 always comes first."""
    elements = [{"kind": "link", "name": "l0", "relative_to": None, "X": random_pose(rng), "link": "l0"}]
    children = {"l0"}
    for i in range(1, count):
        kind = rng.choice(["link", "frame", "joint"], p=[0.4, 0.35, 0.25])
        earlier = [*elements, {"name": MODEL, "link": "l0"}]
        pick = lambda: earlier[rng.integers(len(earlier))]  # noqa: B023, E731
        element = {"kind": kind, "name": f"{kind[0]}{i}", "X": random_pose(rng)}
        element["relative_to"] = pick()["name"] if rng.random() < 0.6 else None
        if kind == "link":
            element["link"] = element["name"]
        elif kind == "frame":
            target = pick()
            element["attached_to"], element["link"] = target["name"], target["link"]
        else:
            child, parent = pick(), pick()
            # a tree: the child is a link that has no parent yet, the parent an older one
            if child["link"] in children or int(parent["link"][1:]) >= int(child["link"][1:]):
                continue
            children.add(child["link"])
            element |= {"child": child["name"], "parent": parent["name"], "link": child["link"]}
        elements.append(element)
    order = rng.permutation(len(elements))
    shuffled = [elements[i] for i in order]
    shuffled.sort(key=lambda element: element["name"] != "l0")
    return shuffled


def graph_of(elements, **options):
    graph = ModelFrames(**options)
    for e in elements:
        where = {"relative_to": e["relative_to"], "X": e["X"]}
        if e["kind"] == "link":
            graph.add_link(e["name"], **where)
        elif e["kind"] == "frame":
            graph.add_frame(e["name"], attached_to=e["attached_to"], **where)
        else:
            graph.add_joint(e["name"], e["child"], **where)
    return graph


def naive_X_ModelF(elements, name):
    if name == MODEL:
        return np.eye(4)
    (e,) = [e for e in elements if e["name"] == name]
    default = {"link": MODEL, "frame": e.get("attached_to"), "joint": e.get("child")}[e["kind"]]
    return naive_X_ModelF(elements, e["relative_to"] or default) @ e["X"]


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_agree_with_a_recursive_oracle(seed):
    elements = random_elements(np.random.default_rng(seed))
    graph = graph_of(elements)
    assert graph.resolve() == ()
    X = {e["name"]: naive_X_ModelF(elements, e["name"]) for e in elements}
    for e in elements:
        assert graph.link_of(e["name"]) == e["link"]
        assert_pose(graph.X_AB(MODEL, e["name"]), X[e["name"]])
        for other in elements:
            assert_pose(graph.X_AB(other["name"], e["name"]), np.linalg.inv(X[other["name"]]) @ X[e["name"]])


def test_inverse_and_composition():
    rng = np.random.default_rng(1)
    X, Y = random_pose(rng), random_pose(rng)
    assert_pose(compose(X, inverse(X)), IDENTITY)
    assert_pose(compose(X, Y), X @ Y)
    assert not compose(X, Y).flags.writeable


def as_sdf(elements, X_WModel, attributes=""):
    """The elements as a file, poses as quaternions and as roll, pitch, yaw in turns."""
    from scipy.spatial.transform import Rotation

    def pose_text(X, relative_to=None, as_quaternion=True):
        rotation = Rotation.from_matrix(X[:3, :3])
        angles = rotation.as_quat() if as_quaternion else rotation.as_euler("xyz")
        numbers = " ".join(repr(float(value)) for value in (*X[:3, 3], *angles))
        form = "rotation_format='quat_xyzw'" if as_quaternion else ""
        reference = f"relative_to='{relative_to}'" if relative_to else ""
        return f"<pose {form} {reference}>{numbers}</pose>"

    parts = []
    for i, e in enumerate(elements):
        body = pose_text(e["X"], e["relative_to"], i % 2 == 0)
        extra = ""
        if e["kind"] == "joint":
            extra = "type='revolute'"
            body += f"<parent>{e['parent']}</parent><child>{e['child']}</child><axis/>"
        elif e["kind"] == "frame":
            extra = f"attached_to='{e['attached_to']}'"
        parts.append(f"<{e['kind']} name='{e['name']}' {extra}>{body}</{e['kind']}>")
    return f"<sdf version='1.9'><model name='m' {attributes}>{pose_text(X_WModel)}{''.join(parts)}</model></sdf>"


def frames_that_pydrake_places(elements):
    """Names of the frames that pydrake 1.51 puts where the format says.

    A frame attached to a joint, or to a frame further down in the file, it fixes to the right link at the pose
    in that joint or frame instead of the pose in the link; and so all frames attached to such a one.
    """
    placed = {MODEL}
    for e in elements:
        if e["kind"] == "frame" and (e["attached_to"] in placed or e["attached_to"].startswith("l")):
            placed.add(e["name"])
    return placed


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("seed", range(30))
def test_random_frame_graphs_agree_with_pydrake(seed):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    rng = np.random.default_rng(seed)
    elements = random_elements(rng)
    attributes = f"placement_frame='{elements[-1]['name']}'" if seed % 2 else ""
    text = as_sdf(elements, random_pose(rng), attributes)

    diagnostics = Diagnostics()
    (model,) = read_sdf(text.encode(), diagnostics)
    assert diagnostics.findings == []

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for link in model.links:
        X_WL = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(link.name)).GetAsMatrix4()
        assert_pose(model.X_WModel @ link.X_ModelL, X_WL)
    placed = frames_that_pydrake_places(elements)
    for name, link, X_LF in [*((f.name, f.link, f.X_LF) for f in model.frames), (MODEL, *model.X_LinkModel)]:
        peer = plant.GetFrameByName(name)
        assert peer.body().name() == link
        if name in placed:
            assert_pose(X_LF, peer.GetFixedPoseInBodyFrame().GetAsMatrix4())
    for joint in model.joints:
        peer = plant.GetJointByName(joint.name)
        assert (peer.parent_body().name(), peer.child_body().name()) == (joint.parent, joint.child)
        assert_pose(joint.X_PF, peer.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4())
        assert_pose(joint.X_CM, peer.frame_on_child().GetFixedPoseInBodyFrame().GetAsMatrix4())
