"""`mbcli inspect`: a model as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import expand_option, load, print_expanded
from mbcli.cli.options import MODEL_KEYS, model_options, output_options, take, take_output
from mbcli.cli.output import document, emit, number, printable, table
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.multibody.tree.joint_kinds import is_weld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint import Joint

MOST_STANDING = 3  # trees that are named


@click.command()
@model_options
@click.option("--tree", type=click.Choice(["text", "dot", "mermaid"]), help="Only the tree of bodies and joints.")
@click.option(
    "--geometry", is_flag=True, help="Only the collision geometries: rigid or compliant, and their numbers of elements."
)
@expand_option
@output_options
@click.pass_context
def inspect(ctx: click.Context, tree: str | None, geometry: bool, expand: bool, **values: Any) -> None:
    """Describe a model: its tree, joints, masses, frames, actuators, sensors, geometry, unused elements of the file.

    \b
    mbcli inspect robot.urdf
    mbcli inspect robot.sdf --json | jq .counts
    mbcli inspect robot.urdf --tree dot | dot -Tsvg > tree.svg
    mbcli inspect robot.urdf --geometry
    mbcli inspect robot.urdf.xacro --expand --xacro-arg use_gripper:=true
    """
    model, output = take(values, MODEL_KEYS), take_output(values)
    if expand:
        if tree is not None or geometry or output.result_format() is not None:
            raise click.UsageError("--expand prints XML, and nothing else")
        print_expanded(model, output)
        return
    result_format = output.result_format()
    if result_format not in (None, "text", "json"):
        raise click.UsageError("inspect gives text or JSON")
    if tree is not None and geometry:
        raise click.UsageError("give --tree or --geometry")
    if tree is not None and result_format == "json":
        raise click.UsageError("--tree gives text, dot or mermaid, no JSON")
    model.self_contact = "all"
    loaded = load(model, ctx, contact=tree is None)
    if tree is not None:
        emit(TREES[tree](loaded.plant), output)
        return
    if geometry:
        from mbcli.models.hydroelastic_geometries import hydroelastic_geometries

        rows = hydroelastic_geometries(loaded.plant)
        emit(to_json(document("geometry", loaded, geometries=rows)) if result_format == "json" else shown(rows), output)
        return
    from mbcli.models.description import describe

    if result_format == "json":
        emit(to_json(describe(loaded)), output)
    else:
        emit(render(describe(loaded), loaded.plant), output)


def shown(geometries: list[dict[str, Any]]) -> str:
    """Geometries as a table."""
    if not geometries:
        return "no geometry collides"
    rows = []
    for g in geometries:
        elements = next((f"{g[kind]} {kind}" for kind in ("tetrahedra", "triangles") if g[kind] is not None), "")
        lengths = [g[key] for key in ("resolution_hint", "slab_thickness", "margin")]
        rows.append([g["body"], g["geometry"], g["shape"], g["compliance"], g["modulus"], *lengths, elements])
    header = ["body", "geometry", "shape", "hydroelastic", "modulus [Pa]", "hint [m]", "slab [m]", "margin [m]"]
    return table([["" if cell is None else cell for cell in row] for row in rows], [*header, "elements"])


def render(info: dict[str, Any], plant: MultibodyPlant) -> str:
    counts = info["counts"]
    names = ", ".join(
        f"{f['model_instance']} ({' '.join(filter(None, (f['format'].upper(), f['version'])))})" for f in info["format"]
    )
    sizes = [counted(counts["bodies"], "body", "bodies"), counted(counts["joints"], "joint")]
    sizes.append(counted(counts["actuators"], "actuator"))
    if counts["deformable_bodies"]:
        sizes.append(counted(counts["deformable_bodies"], "deformable body", "deformable bodies"))
    shapes = f"{counted(counts['visuals'], 'visual')}, {counted(counts['collisions'], 'collision')}"
    lines = [
        printable(names),
        f"{', '.join(sizes)}; nq = {counts['nq']}, nv = {counts['nv']}; {_masses(info)}; {shapes}",
        *_measure_lines(info),
        "",
        text_tree(plant),
    ]
    lines += [printable(_deformable_line(body)) for body in info["deformable_bodies"]]
    lines += [printable(_constraint_line(constraint)) for constraint in info["constraints"]]
    if info["mobility"] is not None:
        lines.append(printable(_mobility_line(info["mobility"])))
    weightless = [b.name() for b in plant.elements.bodies if not b.has_weight and b.default_mass() > 0.0]
    if weightless:
        lines.append(printable(f"out of gravity: {', '.join(weightless)}"))
    lines += [printable(_force_element_line(element)) for element in info["force_elements"][1:]]  # the first is gravity
    named = [frame.name() for frame in plant.elements.frames if frame.place is not None and not frame.is_body_frame()]
    if named:
        lines.append(printable(f"frames: {', '.join(named)}"))
    lines += [printable(_filter_group_line(group)) for group in info["collision_filter_groups"]]
    lines += [printable(_sensor_line(sensor)) for sensor in info["sensors"]]
    postures = list(dict.fromkeys(posture["name"] for posture in info["postures"]))
    if postures:
        lines.append(printable(f"postures: {', '.join(postures)}"))
    blocks = [_coordinate_table(info, plant), _mass_table(info), _findings_line(info["not_used"])]
    return "\n\n".join(["\n".join(lines), *(block for block in blocks if block)])


def _masses(info: dict[str, Any]) -> str:
    rigid = f"total mass {number(info['total_mass'])} kg"
    fixed = sum(body["mass"] for body in info["bodies"] if body["anchored"])
    if 0.0 < fixed < info["total_mass"]:
        rigid += f" ({number(fixed)} kg fixed to the world)"
    soft = info["deformable_bodies"]
    return f"{rigid} and {number(sum(body['mass'] for body in soft))} kg deformable" if soft else rigid


def _measure_lines(info: dict[str, Any]) -> list[str]:
    """Extent, reach and the height at which what floats stands, as far as they are known."""
    found = []
    if info["extent"] is not None:
        sizes = (high - low for low, high in zip(info["extent"]["lower"], info["extent"]["upper"], strict=True))
        found.append(f"extent {' x '.join(map(number, sizes))} m")
    if info["reach"] is not None:
        distance, ends = info["reach"]["distance"], f"{info['reach']['body']} from {info['reach']['joint']}"
        found.append(f"reach {'without end' if distance is None else f'{number(distance)} m'} ({ends})")
    standing = list((info["standing_height"] or {}).items())
    found += [f"stands with {body} at z = {number(height)} m" for body, height in standing[:MOST_STANDING]]
    if len(standing) > MOST_STANDING:
        found.append(f"{len(standing) - MOST_STANDING} others stand too")
    return [printable("; ".join(found))] if found else []


def _mobility_line(mobility: dict[str, Any]) -> str:
    if "problem" in mobility:
        return f"constraints: {mobility['problem']}"
    redundant = ", ".join(f"{entry['rows']} of {entry['name'] or entry['type']}" for entry in mobility["redundant"])
    return (
        f"constraints: {mobility['rows']} equations of rank {mobility['rank']}, mobility {mobility['mobility']}"
        + (f"; redundant: {redundant}" if redundant else "")
        + ("; the assembly nearest to the default pose is singular" if mobility["singular"] else "")
    )


def _deformable_line(body: dict[str, Any]) -> str:
    """Size and material of a deformable body: `sponge: deformable, 27 vertices, 48 tetrahedra, 8 kg, ...`."""
    held = [f"{body['vertices_on_walls']} vertices on walls"] if body["vertices_on_walls"] else []
    held += [f"{fixed['vertices']} vertices fixed to {fixed['body']}" for fixed in body["vertices_fixed_to_bodies"]]
    measures = [
        f"{body['vertices']} vertices",
        counted(body["tetrahedra"], "tetrahedron", "tetrahedra"),
        f"{number(body['mass'])} kg",
        body["material_model"],
        f"E = {number(body['youngs_modulus'])} Pa",
        f"nu = {number(body['poissons_ratio'])}",
        f"{number(body['mass_density'])} kg/m^3",
        *held,
    ]
    return f"{body['name']}: deformable, {', '.join(measures)}"


def _constraint_line(constraint: dict[str, Any]) -> str:
    """The elements that a constraint ties, and its numbers: `coupler: finger_2 = -1 finger_1 + 0.5`."""
    kind, between = constraint["type"], " and ".join(constraint["bodies"])
    if "joint_type" in constraint:
        return f"loop closed by {constraint['name']} ({constraint['joint_type']}) between {between}"
    name = f" {constraint['name']}" if constraint["name"] else ""
    if kind == "coupler":
        follower, leader = constraint["joints"]
        offset = constraint["offset"]
        offset = f" {'-' if offset < 0 else '+'} {number(abs(offset))}" if offset else ""
        return f"coupler{name}: {follower} = {number(constraint['gear_ratio'])} {leader}{offset}"
    if kind == "tendon":
        return f"tendon{name} over {', '.join(constraint['joints'])}"
    if kind == "contact":
        return f"contact{name} on {between}, {counted(len(constraint['normals']), 'normal')}"
    details = {
        "distance": lambda: f", {number(constraint['distance'])} m",
        "loop": lambda: f", {counted(len(constraint['axes']), 'axis', 'axes')}",
    }
    return f"{kind}{name} between {between}{details.get(kind, str)()}"


def _force_element_line(element: dict[str, Any]) -> str:
    if "joint" in element:
        return f"{element['type']} at {element['joint']}"
    ends = element.get("frames", element.get("bodies"))
    return f"{element['type']} between {' and '.join(ends)}" if ends else element["type"]


def _sensor_line(sensor: dict[str, Any]) -> str:
    """Where a sensor is and what it gives: `sensor imu (imu) on torso: orientation_qw ... [1], ...`."""
    joints = f" of {', '.join(sensor['joints'])}" if sensor["joints"] else ""
    where = f" on {sensor['body']}" if "body" in sensor else joints
    signals = []
    for signal in sensor["signals"]:
        first, *others = signal["columns"]
        shown = first if not others else f"{first} ... {others[-1]}"
        signals.append(f"{shown} [{signal['units']}]" + f" in {signal['frame']}" * bool(signal["frame"]))
    details = [f"{number(sensor['update_rate'])} Hz"] if sensor["update_rate"] else []
    details += [f"{number(sensor['delay'])} s late"] if sensor["delay"] else []
    details += ["noise"] if sensor["has_noise"] else []
    return f"sensor {sensor['name']} ({sensor['type']}){where}: {'; '.join([', '.join(signals), *details])}"


def _filter_group_line(group: dict[str, Any]) -> str:
    scope = f"{group['model_instance']}::" if group["model_instance"] else ""
    ignored = " and ".join(scope + name for name in group["ignores"]) or "nothing"
    return f"collision filter group {scope}{group['name']} of {', '.join(group['members'])} ignores {ignored}"


def _coordinate_table(info: dict[str, Any], plant: MultibodyPlant) -> str:
    """Every position with its limits; columns that are empty for all are left out."""
    from mbcli.models.units import coordinate_units

    units = coordinate_units(plant)[0]
    rows = []
    for joint in info["joints"]:
        for k in range(joint["num_positions"] if joint["position_start"] is not None else 0):
            rows.append(_coordinate_row(info, joint, k, units))
    if not rows:
        return ""
    header = ["position", "index", "unit", "default", "lower", "upper", "max speed", "max effort", "damping"]
    rows = [header, *sorted(rows, key=lambda row: int(row[1]))]
    used = [k for k in range(len(header)) if any(row[k] for row in rows[1:])]
    return table([[row[k] for k in used] for row in rows])


def _coordinate_row(info: dict[str, Any], joint: dict[str, Any], k: int, units: Sequence[str]) -> list[str]:
    i = joint["position_start"] + k
    lower, upper = joint["position_limits"][k]
    one = joint["num_positions"] == joint["num_velocities"]
    speed = joint["velocity_limits"][k][1] if one else None
    efforts = [
        a["effort_limit"]
        for a in info["actuators"]
        if (a["joint"], a["model_instance"]) == (joint["name"], joint["model_instance"])
    ]
    return [
        info["position_names"][i],
        str(i),
        units[i],
        number(info["default_positions"][i]),
        *("" if value is None else number(value) for value in (lower, upper, speed)),
        "" if not efforts else "none" if efforts[0] is None else number(efforts[0]),
        number(joint["damping"][k]) if one else "",
    ]


def _mass_table(info: dict[str, Any]) -> str:
    several = len(info["format"]) > 1
    rows = [
        [f"{b['model_instance']}::{b['name']}" if several else b["name"], b["mass"], *b["com"]]
        for b in info["bodies"]
        if b["mass"]
    ]
    return table(rows, ["body", "mass [kg]", "com x [m]", "y", "z"]) if rows else ""


def _findings_line(findings: list[dict[str, Any]]) -> str:
    numbers = [(sum(f["severity"] == severity for f in findings), severity) for severity in ("warning", "note")]
    counts = " and ".join(counted(n, severity) for n, severity in numbers if n)
    return f"{counts} on the file (mbcli -v inspect prints all, --json has them)" if counts else ""


def branches_of(plant: MultibodyPlant) -> list[tuple[int, Joint, int]]:
    """(inboard body, joint, outboard body) as the plant's coordinates hang on each other, depth first."""
    return [(m.inboard, plant.elements.joints[m.joint], m.link) for m in plant.forest()[0]]


def text_tree(plant: MultibodyPlant) -> str:
    branches = branches_of(plant)
    last_child = {inboard: outboard for inboard, _, outboard in branches}
    indent = {0: ""}
    lines = ["world"]
    for inboard, joint, outboard in branches:
        is_last = last_child[inboard] == outboard
        indent[outboard] = indent[inboard] + ("   " if is_last else "│  ")
        corner = "└─" if is_last else "├─"
        lines.append(f"{indent[inboard]}{corner} {_branch(joint)} {printable(_body_label(plant, outboard))}")
    return "\n".join(lines)


def _body_label(plant: MultibodyPlant, n: int) -> str:
    """A body's name, with its model's if there are several models."""
    body = plant.elements.bodies[n]
    if n == 0 or plant.num_model_instances() <= 3:
        return body.name()
    return f"{plant.GetModelInstanceName(body.model_instance())}::{body.name()}"


def _branch(joint: Joint) -> str:
    if is_weld(joint):
        return "weld ─"
    if joint.is_ephemeral():
        return "floating ─"
    return f"{printable(joint.name())} ({joint.type_name()}) ─"


def _label(joint: Joint) -> str:
    return f"{joint.name()} ({joint.type_name()})"


def dot_tree(plant: MultibodyPlant) -> str:
    lines = ["digraph model {", '  node [shape=box, fontname="sans-serif"];', '  b0 [label="world"];']
    lines += [f"  b{n} [label={_quoted(_body_label(plant, n))}];" for n in range(1, plant.num_bodies())]
    for inboard, joint, outboard in branches_of(plant):
        style = " style=dashed" if is_weld(joint) else ""
        lines.append(f"  b{inboard} -> b{outboard} [label={_quoted(_label(joint))}{style}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mermaid_tree(plant: MultibodyPlant) -> str:
    lines = ["graph TD", '  b0["world"]']
    lines += [f"  b{n}[{_entity(_body_label(plant, n))}]" for n in range(1, plant.num_bodies())]
    for inboard, joint, outboard in branches_of(plant):
        lines.append(f"  b{inboard} -->|{_entity(_label(joint))}| b{outboard}")
    return "\n".join(lines)


def _entity(text: str) -> str:
    safe = printable(text).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'"{safe}"'


TREES = {"text": text_tree, "dot": dot_tree, "mermaid": mermaid_tree}
