"""Which model instances and frames a ModelSpec becomes, known before any is added to a plant."""

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.spec import IDENTITY


def model_instances(spec, name):
    """(instance name, ModelSpec) of a model that gets a name and of those nested in it, NAME::INNER, in the order in
    which a plant numbers them: each before those in it, included models of other formats before all others."""
    found = list(_walk(spec, name))
    return sorted(found, key=lambda pair: FORMATS[pair[1].format].NESTS) if len(found) > 1 else found


def top_models(specs):
    """The models that stand by themselves: those of a world beside each other."""
    return [model for spec in specs for model in (spec.models if spec.is_world else (spec,))]


def has_joint_frame(spec, joint, end):
    """Whether a joint of a model has a frame of its own, JOINT_parent or JOINT_child, on the link at that end.

    It has where it is not in the link's frame, and in pydrake on some ends always.
    """
    X = joint.X_PF if end == "parent" else joint.X_CM
    return FORMATS[spec.format].has_joint_frame(joint, end) or not (X is IDENTITY or (X == IDENTITY).all())


def joint_frame_names(spec):
    """{(joint name, "parent" or "child"): the name of its frame there} of a model: JOINT_parent and JOINT_child, made
    longer if the file has a link or frame of that name."""
    stated = {element.name for element in (*spec.links, *spec.frames)}
    names = {}
    for joint in spec.joints:
        for end in ("parent", "child"):
            if has_joint_frame(spec, joint, end):
                names[joint.name, end] = generated_name(f"{joint.name}_{end}", stated)
    return names


def instance_of_element(on_body, own, names, taken):
    """The model instance of an element that a model has on a body: the body's, as in pydrake, unless a name is taken
    there, by an element of a nested model; then the model's own.

    taken(name, instance): whether there is an element of that name and kind.
    """
    return own if any(taken(name, on_body) for name in names) else on_body


def _walk(spec, name):
    yield name, spec
    for inner in spec.models:
        yield from _walk(inner, f"{name}::{inner.name}")
