"""<flexcomp> of MJCF files: elastic grids of tetrahedra that are free in the world become deformable bodies.

A grid of n vertices at the distance h along each axis is a box of (n - 1) h about the origin, which this program fills
with tetrahedra of its own. A rigid flex makes no bodies and has no mass; it is left out with a warning, since nothing
touches it here.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-flexcomp
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mbcli.parsers.mjcf.mjcf_values import read_color, read_pose
from mbcli.parsers.spec import IDENTITY, Box, DeformableSpec, GeometrySpec, pose

from mbcli.errors import ModelError
from mbcli.multibody.fem.body_config import DeformableBodyConfig

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_values import Reading
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

GRID, TETRAHEDRA = "grid", 3  # the type and dim that are read
FRICTION = 1.0  # MuJoCo's default
FOLLOWED = "deformable bodies here are elastic grids of tetrahedra (type grid, dim 3) that are free in the world"


def read_flexcomp(node: Node, X_WB: Matrix4 | None, reading: Reading) -> DeformableSpec | None:
    """The DeformableSpec of a <flexcomp> in a body at X_WB in the world, which never moves; None after a finding."""
    if node.boolean("rigid", False):
        reading.unused.add_element(node, "a rigid flex is not here: nothing touches it")
        return None
    problem = "it is in a body that moves" if X_WB is None else _unlike(node)
    if problem is not None:
        node.ignore("settled")
        message = f"<flexcomp> is not supported if {problem}: {FOLLOWED}"
        node.diagnostics.error("ELEMENT_UNSUPPORTED", message, node)
        return None
    count, spacing = node.vector("count", 3, (10.0,) * 3), node.vector("spacing", 3, (0.02,) * 3)
    mass, name = node.number("mass", 1.0), node.attribute("name", required=True)
    if count is None or spacing is None or name is None:
        return None
    if min(count) < 2 or any(n != int(n) for n in count) or min(spacing) <= 0 or not mass > 0:
        problem = "a grid of tetrahedra has at least 2 vertices along each axis, and spacing and mass are positive"
        node.diagnostics.error("ATTRIBUTE_INVALID", problem, node)
        return None
    size = tuple((n - 1) * h for n, h in zip(count, spacing, strict=True))
    volume = size[0] * size[1] * size[2]
    if not 0.0 < volume < math.inf or not 0.0 < mass / volume < math.inf:
        node.diagnostics.error("ATTRIBUTE_INVALID", "mass and spacing of the grid give no finite density", node)
        return None
    config = _material(node.child("elasticity"), mass / volume)
    for edge in node.children("edge"):
        reading.unused.add_element(edge, "an elastic flex has no springs, dampers and equalities of edges here")
    properties = {
        ("material", "coulomb_friction"): (_friction(node),) * 2,
        ("hydroelastic", "resolution_hint"): max(spacing),
    }
    geometry = GeometrySpec(name, Box(size), IDENTITY, node.place, properties=properties)
    assert X_WB is not None
    X_WD = X_WB @ read_pose(node, reading.settings_of(node))
    color = read_color(node)
    return DeformableSpec(name, node.place, geometry, config, pose(X_WD[:3, :3], X_WD[:3, 3]), color=color)


def _unlike(node: Node) -> str | None:
    """Why a <flexcomp> is none of those that are read, or None."""
    kind, dim = node.attribute("type", GRID), node.integer("dim", 2)
    if kind != GRID or dim != TETRAHEDRA:
        return f"its type is {kind} and its dim {dim}"
    if node.attribute("dof", "full") != "full":
        return f"its dof is {node.attribute('dof')}"
    if node.vector("scale", 3, (1.0, 1.0, 1.0)) != (1.0, 1.0, 1.0):
        return "it is scaled"
    if any(child.tag in ("pin", "plugin") for child in node.child_nodes):
        return "it is pinned or has a plugin"
    elasticity = node.child("elasticity")
    if elasticity is None or elasticity.number("young", 0.0) == 0:
        return "it has no <elasticity> with young"
    return None


def _material(elasticity: Any, density: float) -> DeformableBodyConfig:
    config = DeformableBodyConfig()
    config.set_mass_density(density)
    try:
        config.set_youngs_modulus(elasticity.number("young"))
        config.set_poissons_ratio(elasticity.number("poisson", 0.0))
        config.set_stiffness_damping_coefficient(elasticity.number("damping", 0.0))
    except ModelError as error:
        elasticity.diagnostics.error("DEFORMABLE_INVALID", f"<elasticity>: {error}", elasticity)
    return config


def _friction(node: Node) -> float:
    """The sliding friction of the <contact> in it."""
    contact: Any = node.child("contact")
    stated = contact.attribute("friction") if contact is not None else None
    values = contact.vector("friction", len(stated.split())) if stated else None
    return values[0] if values else FRICTION
