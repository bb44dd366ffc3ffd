"""`mbcli inspect`: a model as data."""

import math

import click

from mbcli.cli.model import load
from mbcli.cli.options import MODEL_KEYS, model_options, output_options, take, take_output
from mbcli.cli.output import document, emit, number, printable, table, to_json
from mbcli.cli.units import coordinate_units

# accessors of force elements: the elements that they act between, and their numbers
FORCE_ELEMENT_PARTS = ((("frameA", "frameC"), "frames"), (("bodyA", "bodyB"), "bodies"))
FORCE_ELEMENT_VALUES = (
    "gravity_vector",
    "p_AP",
    "p_BQ",
    "free_length",
    "stiffness",
    "damping",
    "torque_stiffness_constants",
    "torque_damping_constants",
    "force_stiffness_constants",
    "force_damping_constants",
)


@click.command()
@model_options
@click.option("--tree", type=click.Choice(["text", "dot", "mermaid"]), help="Only the tree of bodies and joints.")
@output_options
@click.pass_context
def inspect(ctx, tree, **values):
    """Describe a model: its tree, joints, masses, frames, actuators, geometry, and the unused elements of the file.

    \b
    mbcli inspect robot.urdf
    mbcli inspect robot.sdf --json | jq .counts
    mbcli inspect robot.urdf --tree dot | dot -Tsvg > tree.svg
    """
    model, output = take(values, MODEL_KEYS), take_output(values)
    result_format = output.result_format()
    if result_format not in (None, "text", "json"):
        raise click.UsageError("inspect gives text or JSON")
    if tree is not None and result_format == "json":
        raise click.UsageError("--tree gives text, dot or mermaid, no JSON")
    loaded = load(model, ctx)
    if tree is not None:
        emit(TREES[tree](loaded.plant), output)
    elif result_format == "json":
        emit(to_json(describe(loaded)), output)
    else:
        emit(render(describe(loaded), loaded.plant), output)


def describe(loaded):
    """The model as a JSON document."""
    plant = loaded.plant
    geometries = _geometries(loaded)
    return document(
        "inspect",
        loaded,
        format=[
            {"name": spec.name, "model_instance": instance, "format": spec.format, "version": spec.version}
            for spec, instance in zip(loaded.specs, loaded.instances, strict=True)
        ],
        time_step=plant.time_step(),
        gravity=plant.gravity_field().gravity_vector(),
        counts={
            "nq": plant.num_positions(),
            "nv": plant.num_velocities(),
            "nu": plant.num_actuators(),
            "bodies": plant.num_bodies() - 1,
            "joints": plant.num_joints(),
            "frames": plant.num_frames(),
            "actuators": plant.num_actuators(),
            "model_instances": plant.num_model_instances() - 2,
            "force_elements": plant.num_force_elements(),
            "constraints": len(plant._constraints),
            "visuals": sum(g["role"] == "visual" for g in geometries),
            "collisions": sum(g["role"] == "collision" for g in geometries),
            "moving_bodies": plant._model.sizes["nbody"] - 1,
        },
        total_mass=float(plant._model.link_inertia[:, 0].sum()),
        position_names=plant.GetPositionNames(),
        velocity_names=plant.GetVelocityNames(),
        actuator_names=plant.GetActuatorNames(),
        default_positions=plant.GetDefaultPositions(),
        bodies=[_body(plant, body) for body in plant._bodies[1:]],
        joints=[_joint(plant, joint) for joint in plant._joints],
        frames=[_frame(plant, frame) for frame in plant._frames if not frame.is_body_frame()],
        actuators=[_actuator(plant, actuator) for actuator in plant._actuators],
        force_elements=[_force_element(element) for element in plant._force_elements],
        constraints=[_constraint(constraint) for constraint in plant._constraints],
        mobility=_mobility(plant),
        geometries=geometries,
        collision_filter_groups=_filter_groups(loaded),
        not_used=[f.as_dict() for f in loaded.diagnostics.findings],
    )


def _instance(plant, element):
    return plant.GetModelInstanceName(element.model_instance())


def _place(element):
    return str(element._place) if element._place is not None else None


def _body(plant, body):
    M = body.default_spatial_inertia()
    I = M.CalcRotationalInertia().CopyToFullMatrix3()
    com = M.get_com()
    central = I - M.get_mass() * ((com @ com) * _identity() - com[:, None] * com[None, :])
    return {
        "name": body.name(),
        "model_instance": _instance(plant, body),
        "mass": M.get_mass(),
        "com": com,
        "inertia_about_com": central,
        "floating": body.is_floating_base_body(),
        "anchored": plant.IsAnchored(body),
        "place": _place(body),
    }


def _identity():
    import numpy as np

    return np.eye(3)


def _joint(plant, joint):
    nq, nv = joint.num_positions(), joint.num_velocities()
    closes_loop = joint in plant._loop_joints
    result = {
        "name": joint.name(),
        "model_instance": _instance(plant, joint),
        "type": joint.type_name(),
        "parent": joint.parent_body().name(),
        "child": joint.child_body().name(),
        "position_start": joint.position_start() if nq and not closes_loop else None,
        "num_positions": nq,
        "velocity_start": joint.velocity_start() if nv and not closes_loop else None,
        "num_velocities": nv,
        "X_PF": joint.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4(),
        "X_CM": joint.frame_on_child().GetFixedPoseInBodyFrame().GetAsMatrix4(),
        "place": _place(joint),
        "added_by_mbcli": joint.is_ephemeral(),
    }
    if hasattr(joint, "axis"):
        result["axis"] = joint.axis()
    if joint.type_name() == "screw":
        result["pitch"] = joint.screw_pitch()
    if nv:
        result["damping"] = joint.default_damping_vector()
        for kind in ("position", "velocity", "acceleration"):
            lower = getattr(joint, f"{kind}_lower_limits")().tolist()
            upper = getattr(joint, f"{kind}_upper_limits")().tolist()
            result[f"{kind}_limits"] = [[_limit(low), _limit(high)] for low, high in zip(lower, upper, strict=True)]
    for name, limits in joint._other_limits.items():
        result[f"{name}_limits"] = [_limit(limit) for limit in limits]
    return result


def _limit(value):
    """A limit that the file does not set is not a number."""
    return value if math.isfinite(value) else None


def _constraint(constraint):
    result = {
        "type": constraint.kind,
        "name": constraint.name,
        "bodies": [body.name() for body in constraint.bodies()],
        "place": str(constraint.place) if constraint.place is not None else None,
    }
    if constraint.joints():
        result["joints"] = [joint.name() for joint in constraint.joints()]
    return result | {name: _number(value) for name, value in constraint.parameters().items()}


def _mobility(plant):
    """The freedom that constraints leave at the assembly nearest to the default pose; None without constraints."""
    if not plant._constraints:
        return None
    from collections import Counter

    import numpy as np

    from mbcli.errors import ModelError
    from mbcli.multibody.constraints.closed_chains import ClosedChains
    from mbcli.multibody.plant.context import Context

    context = Context(plant, compiled=False)
    state = context.state
    state.set_q(plant.GetDefaultPositions())
    try:
        chains = ClosedChains(context)
    except ModelError as error:
        return {"problem": str(error)}
    found = chains.assemble(state.q)
    if not found.converged:
        return {"rows": chains.nrow, "problem": f"no assembly was found, the error is {found.position_error:.3g}"}
    independent = chains.independent(found.q)
    rank = chains.rank_nearby(found.q)
    redundant = Counter(owner for owner, needed in zip(chains.owners, independent, strict=True) if not needed)
    return {
        "rows": chains.nrow,
        "rank": rank,
        "mobility": plant.num_velocities() - rank,
        "singular": rank > int(np.sum(independent)),
        "redundant": [{"type": owner.kind, "name": owner.name, "rows": count} for owner, count in redundant.items()],
        "q": found.q,
    }


def _mobility_line(mobility):
    if "problem" in mobility:
        return f"constraints: {mobility['problem']}"
    redundant = ", ".join(f"{entry['rows']} of {entry['name'] or entry['type']}" for entry in mobility["redundant"])
    return (
        f"constraints: {mobility['rows']} equations of rank {mobility['rank']}, mobility {mobility['mobility']}"
        + (f"; redundant: {redundant}" if redundant else "")
        + ("; the assembly nearest to the default pose is singular" if mobility["singular"] else "")
    )


def _number(value):
    return _limit(value) if isinstance(value, float) else value


def _filter_groups(loaded):
    """Those of models by their own names, then those of directives by scoped ones."""
    of_models = [
        {
            "name": group.name,
            "model_instance": instance,
            "members": group.members,
            "ignores": group.ignores,
            "place": str(group.place),
        }
        for spec, instance in zip(loaded.specs, loaded.instances, strict=True)
        for group in spec.filter_groups
    ]
    names = {f"{group['model_instance']}::{group['name']}" for group in of_models}
    pairs = loaded.filter_groups.exclusion_pairs()
    of_directives = [
        {
            "name": name,
            "model_instance": None,
            "members": sorted(members),
            "ignores": sorted(
                {second if first == name else first for first, second in pairs if name in (first, second)}
            ),
            "place": None,
        }
        for name, members in loaded.filter_groups.groups().items()
        if name not in names
    ]
    return of_models + of_directives


def _frame(plant, frame):
    return {
        "name": frame.name(),
        "model_instance": _instance(plant, frame),
        "body": frame.body().name(),
        "X_BF": frame.GetFixedPoseInBodyFrame().GetAsMatrix4(),
    }


def _actuator(plant, actuator):
    gains = actuator.get_controller_gains() if actuator.has_controller() else None
    return {
        "name": actuator.name(),
        "model_instance": _instance(plant, actuator),
        "joint": actuator.joint().name(),
        "effort_limit": _limit(actuator.effort_limit()),
        "rotor_inertia": actuator.default_rotor_inertia(),
        "gear_ratio": actuator.default_gear_ratio(),
        "controller_gains": [gains.p, gains.d] if gains is not None else None,
        "place": _place(actuator),
    }


def _force_element(element):
    result = {"type": type(element).__name__, "place": _place(element)}
    for names, kind in FORCE_ELEMENT_PARTS:
        if hasattr(element, names[0]):
            result[kind] = [getattr(element, name)().name() for name in names]
    result |= {key: getattr(element, key)() for key in FORCE_ELEMENT_VALUES if hasattr(element, key)}
    if hasattr(element, "joint"):
        result["joint"] = element.joint().name()
    if hasattr(element, "default_stiffness"):
        result["stiffness"] = element.default_stiffness()
    return result


def _geometries(loaded):
    result = []
    for spec, instance in zip(loaded.specs, loaded.instances, strict=True):
        for link in spec.links:
            for role, geometries in (("visual", link.visuals), ("collision", link.collisions)):
                for geometry in geometries:
                    shape = geometry.shape
                    result.append(
                        {
                            "name": geometry.name,
                            "role": role,
                            "model_instance": instance,
                            "body": link.name,
                            "shape": type(shape).__name__.lower(),
                            "parameters": {key: getattr(shape, key) for key in shape.__slots__},
                            "X_BG": geometry.X_LG,
                        }
                    )
    return result


# ------------------------------------------------------------------------------------------------ text


def render(info, plant):
    counts = info["counts"]
    names = ", ".join(
        f"{f['model_instance']} ({' '.join(filter(None, (f['format'].upper(), f['version'])))})" for f in info["format"]
    )
    sizes = [_count(counts["bodies"], "body", "bodies"), _count(counts["joints"], "joint")]
    sizes.append(_count(counts["actuators"], "actuator"))
    shapes = f"{_count(counts['visuals'], 'visual')}, {_count(counts['collisions'], 'collision')}"
    lines = [
        printable(names),
        f"{', '.join(sizes)}; nq = {counts['nq']}, nv = {counts['nv']}; "
        f"total mass {number(info['total_mass'])} kg; {shapes}",
        "",
        text_tree(plant),
    ]
    lines += [printable(_constraint_line(constraint)) for constraint in info["constraints"]]
    if info["mobility"] is not None:
        lines.append(printable(_mobility_line(info["mobility"])))
    lines += [printable(_force_element_line(element)) for element in info["force_elements"][1:]]  # the first is gravity
    named = [frame.name() for frame in plant._frames if frame._place is not None and not frame.is_body_frame()]
    if named:
        lines.append(printable(f"frames: {', '.join(named)}"))
    lines += [printable(_filter_group_line(group)) for group in info["collision_filter_groups"]]
    blocks = [_coordinate_table(info, plant), _mass_table(info), _findings_line(info["not_used"])]
    return "\n\n".join(["\n".join(lines), *(block for block in blocks if block)])


def _constraint_line(constraint):
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
        return f"contact{name} on {between}, {_count(len(constraint['normals']), 'normal')}"
    details = {
        "distance": lambda: f", {number(constraint['distance'])} m",
        "loop": lambda: f", {_count(len(constraint['axes']), 'axis', 'axes')}",
    }
    return f"{kind}{name} between {between}{details.get(kind, str)()}"


def _force_element_line(element):
    if "joint" in element:
        return f"{element['type']} at {element['joint']}"
    ends = element.get("frames", element.get("bodies"))
    return f"{element['type']} between {' and '.join(ends)}" if ends else element["type"]


def _filter_group_line(group):
    scope = f"{group['model_instance']}::" if group["model_instance"] else ""
    ignored = " and ".join(scope + name for name in group["ignores"]) or "nothing"
    return f"collision filter group {scope}{group['name']} of {', '.join(group['members'])} ignores {ignored}"


def _count(number, one, several=None):
    return f"{number} {one if number == 1 else several or one + 's'}"


def _coordinate_table(info, plant):
    """Every position with its limits; columns that are empty for all are left out."""
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


def _coordinate_row(info, joint, k, units):
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


def _mass_table(info):
    several = len(info["format"]) > 1
    rows = [
        [f"{b['model_instance']}::{b['name']}" if several else b["name"], b["mass"], *b["com"]]
        for b in info["bodies"]
        if b["mass"]
    ]
    return table(rows, ["body", "mass [kg]", "com x [m]", "y", "z"]) if rows else ""


def _findings_line(findings):
    counted = [(sum(f["severity"] == severity for f in findings), severity) for severity in ("warning", "note")]
    counts = " and ".join(_count(n, severity) for n, severity in counted if n)
    return f"{counts} on the file (mbcli -v inspect prints all, --json has them)" if counts else ""


def branches_of(plant):
    """(inboard body, joint, outboard body) as the plant's coordinates hang on each other, depth first."""
    return [(m.inboard, plant._joints[m.joint], m.link) for m in plant._forest()[0]]


def text_tree(plant):
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


def _body_label(plant, n):
    """A body's name, with its model's if there are several models."""
    body = plant._bodies[n]
    return body.name() if n == 0 or plant.num_model_instances() <= 3 else f"{_instance(plant, body)}::{body.name()}"


def _branch(joint):
    if joint.type_name() == "weld":
        return "weld ─"
    if joint.is_ephemeral():
        return "floating ─"
    return f"{printable(joint.name())} ({joint.type_name()}) ─"


def _label(joint):
    return f"{joint.name()} ({joint.type_name()})"


def dot_tree(plant):
    lines = ["digraph model {", '  node [shape=box, fontname="sans-serif"];', '  b0 [label="world"];']
    lines += [f"  b{n} [label={_quoted(_body_label(plant, n))}];" for n in range(1, plant.num_bodies())]
    for inboard, joint, outboard in branches_of(plant):
        style = " style=dashed" if joint.type_name() == "weld" else ""
        lines.append(f"  b{inboard} -> b{outboard} [label={_quoted(_label(joint))}{style}];")
    return "\n".join([*lines, "}"])


def _quoted(text):
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mermaid_tree(plant):
    lines = ["graph TD", '  b0["world"]']
    lines += [f"  b{n}[{_entity(_body_label(plant, n))}]" for n in range(1, plant.num_bodies())]
    for inboard, joint, outboard in branches_of(plant):
        lines.append(f"  b{inboard} -->|{_entity(_label(joint))}| b{outboard}")
    return "\n".join(lines)


def _entity(text):
    safe = printable(text).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'"{safe}"'


TREES = {"text": text_tree, "dot": dot_tree, "mermaid": mermaid_tree}
