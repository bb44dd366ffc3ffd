"""What may import what: the rooms of the house, from the ground up, and no circle among its files."""

import ast
import functools

import pytest
from repository import ROOT
from room_sizes import rows

from mbcli.multibody.core.plant_core import PlantCore
from mbcli.multibody.plant import MultibodyPlant

# Rooms from the ground up. A module belongs to the longest prefix of its name; it imports from its own room and from
# rooms below. Rooms in one line do not know each other.
ROOMS = (
    ("mbcli", "mbcli.errors", "mbcli.schemas"),
    ("mbcli.math",),
    ("mbcli.common",),
    ("mbcli.config", "mbcli.meshes", "mbcli.plugins", "mbcli.sensors"),
    ("mbcli.engine.fields",),
    ("mbcli.engine.runtime",),
    ("mbcli.engine",),
    ("mbcli.engine.smooth", "mbcli.engine.text"),
    ("mbcli.engine.limits", "mbcli.engine.collision", "mbcli.engine.constraints"),
    ("mbcli.engine.contact", "mbcli.engine.deformable"),
    ("mbcli.engine.stepping",),
    ("mbcli.engine.queries",),
    ("mbcli.tracing",),
    ("mbcli.multibody", "mbcli.multibody.math", "mbcli.multibody.fem"),
    ("mbcli.multibody.inertia",),
    ("mbcli.parsers",),  # what all formats share
    ("mbcli.parsers.checks", "mbcli.common.yaml"),
    ("mbcli.parsers.urdf",),
    ("mbcli.parsers.sdf",),
    ("mbcli.parsers.mjcf",),
    ("mbcli.parsers.srdf",),
    ("mbcli.parsers.usd",),
    ("mbcli.parsers.writing",),
    ("mbcli.parsers.scenes",),
    ("mbcli.parsers.load",),
    ("mbcli.systems.vectors", "mbcli.systems.graphviz", "mbcli.systems.context_text"),
    ("mbcli.systems.ports",),
    ("mbcli.systems.contexts",),
    ("mbcli.systems.system",),
    ("mbcli.multibody.scalars",),
    ("mbcli.multibody.state",),
    ("mbcli.geometry",),
    ("mbcli.trajectories", "mbcli.solvers"),
    ("mbcli.geometry.optimization",),
    ("mbcli.multibody.tree",),
    ("mbcli.systems.events", "mbcli.systems.indices", "mbcli.systems.cache_entries"),
    ("mbcli.systems.leaf_system",),
    ("mbcli.systems.diagram",),
    ("mbcli.systems.diagram_builder",),
    ("mbcli.multibody.deformable",),
    ("mbcli.multibody.compilation",),
    ("mbcli.multibody.assembly",),
    ("mbcli.multibody.contact",),
    ("mbcli.multibody.core",),
    ("mbcli.multibody.stepping",),
    ("mbcli.multibody.plant",),
    ("mbcli.multibody.linearization",),
    ("mbcli.multibody.constraints", "mbcli.multibody.benchmarks"),
    ("mbcli.multibody.sensing",),
    ("mbcli.multibody.parsing", "mbcli.multibody.differential_inverse_kinematics"),
    ("mbcli.multibody.plant_functions",),
    ("mbcli.multibody.inverse_kinematics", "mbcli.multibody.optimization"),
    ("mbcli.conversion", "mbcli.checks", "mbcli.log"),
    ("mbcli.models",),
    ("mbcli.pictures", "mbcli.codegen"),
    ("mbcli.batch", "mbcli.simulation"),
    ("mbcli.comparison", "mbcli.sweeps", "mbcli.identification"),
    ("mbcli.environments", "mbcli.systems"),
    ("mbcli.planning", "mbcli.optimal_control"),
    ("mbcli.visualization", "mbcli.examples"),
    ("mbcli.pydrake_equations",),
    ("mbcli.all", "mbcli.multibody.all", "mbcli.pydrake_names"),
    ("mbcli.pydrake",),
    ("mbcli.cli",),
    ("mbcli.__main__",),
)
SAME_ROOM = {  # pydrake names them so
    "mbcli.autodiffutils": "mbcli.math",
    "mbcli.forwarddiff": "mbcli.math",
    "mbcli.polynomial": "mbcli.common",
    "mbcli.symbolic": "mbcli.math",
    "mbcli.multibody.meshcat": "mbcli.visualization",
}
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
KNOWN_CIRCLES = [
    {"mbcli.math.roll_pitch_yaw", "mbcli.math.rotation_matrix"},  # each converts to the other
    {"mbcli.multibody.tree.frame", "mbcli.multibody.tree.rigid_body"},  # a body has a frame, a frame tells its body
]


def modules():
    """{name: path} of every module of the program."""
    found = {}
    for folder, package in (("mbcli", "mbcli"), ("parsers", "mbcli.parsers"), ("schemas", "mbcli.schemas")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


MODULES = modules()


def import_statements(path):
    """(node, lent) of a file; lent: in a block of mbcli/lazy_exports.py, which imports from other rooms later."""
    waiting = [(ast.parse(path.read_text()), False)]
    while waiting:
        node, lent = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, lent
        lent = lent or (isinstance(node, ast.With) and ast.unparse(node.items[0]).startswith("lazy_exports("))
        parts = (getattr(node, part, ()) for part in ("body", "orelse", "finalbody", "handlers", "cases"))
        waiting.extend((inner, lent) for part in parts if isinstance(part, list) for inner in part)


def names_of(node):
    """What an import statement names: modules, and members of modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]


def imports_of(path, statements):
    """Modules of the program that a file imports: inside of functions, and for its annotations, too."""
    found = set()
    for node in (node for node, lent in statements if not lent):
        assert not getattr(node, "level", 0), f"{path.name}, line {node.lineno}: imports are by whole names"
        found |= {name if name in MODULES else getattr(node, "module", "") for name in names_of(node)} & MODULES.keys()
    return found


@functools.cache
def statements():
    """{module: what import_statements() gives}; not at import, since every process collects this file."""
    return {name: list(import_statements(path)) for name, path in MODULES.items()}


@functools.cache
def imports():
    """{module: other modules of the program that it imports}"""
    return {name: imports_of(path, statements()[name]) - {name} for name, path in MODULES.items()}


def room_of(module):
    module = SAME_ROOM.get(module, module)
    return module if module in FLOOR else room_of(module.rpartition(".")[0])


def circles(arrows):
    """Sets of names that reach each other (Tarjan 1972), of more than one name."""
    number, lowest, open_names, found = {}, {}, [], []

    def visit(name):
        number[name] = lowest[name] = len(number)
        open_names.append(name)
        for other in arrows[name]:
            if other not in number:
                visit(other)
            if other in open_names:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == number[name]:
            start = open_names.index(name)
            found.append(set(open_names[start:]))
            del open_names[start:]

    for name in arrows:
        if name not in number:
            visit(name)
    return [circle for circle in found if len(circle) > 1]


def test_files_import_from_their_own_room_and_from_rooms_below():
    upward = [
        f"{name} imports {other}"
        for name, others in imports().items()
        for other in others
        if room_of(name) != room_of(other) and FLOOR[room_of(other)] >= FLOOR[room_of(name)]
    ]
    assert not upward, "\n".join(upward)


def test_no_files_import_each_other_in_a_circle():
    assert sorted(map(sorted, circles(imports()))) == sorted(map(sorted, KNOWN_CIRCLES))


def test_every_room_has_a_file_and_every_file_a_room():
    assert {room_of(name) for name in MODULES} == set(FLOOR)


def test_the_architecture_page_lists_the_rooms_in_their_order():
    assert tuple(rooms for rooms, _, _ in rows()) == ROOMS


@pytest.mark.parametrize("seen", ["click", "h5py"])
def test_click_is_imported_by_the_command_line_alone_and_h5py_by_logs_and_batches(seen):
    allowed = {"click": ("mbcli.cli", "mbcli.__main__"), "h5py": ("mbcli.log", "mbcli.batch")}[seen]
    for name, found in statements().items():
        if seen in {each.partition(".")[0] for node, _ in found for each in names_of(node)}:
            assert name.startswith(allowed), name


def test_a_wheel_has_every_package():
    """setup.py finds the folders with an __init__.py, those of parsers/ and schemas/ inside of mbcli."""
    tree = ast.parse((ROOT / "setup.py").read_text())  # it needs a setuptools that need not be here
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "packages"]
    found = {"ROOT": ROOT}
    exec(compile(tree, "setup.py", "exec"), found)
    expected = {name: path.parent for name, path in MODULES.items() if path.name == "__init__.py"}
    assert {name: ROOT / folder for name, folder in found["packages"]().items()} == expected


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]


def test_a_plant_is_a_list_of_names_over_functions_of_its_data():
    """Methods stand in the files of their subjects; that these ask for no name of the list is seen by mypy."""
    assert [c.__name__ for c in MultibodyPlant.__mro__] == [
        "MultibodyPlant",
        "PlantCore",
        "PlantData",
        "System",
        "object",
    ]
    own = {
        name for name, member in vars(PlantCore).items() if getattr(member, "__module__", "") == PlantCore.__module__
    }
    assert own == {"__init__"}
