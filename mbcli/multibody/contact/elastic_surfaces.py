"""The surfaces of a plant's elastic bodies, with their contact properties, and which of them may touch what."""

import numpy as np

from mbcli.multibody.contact.elastic_contact import Surface


def surface_of(plant, body):
    """Surface of a deformable body; without a scene graph nothing touches it, and it has no properties."""
    own = defaults = None
    if plant.scene_graph is not None:
        own = plant.scene_graph.registry.geometries[body.geometry_id()].proximity
        config = plant.scene_graph.config
        defaults = None if config is None else config.default_proximity_properties

    def value(name, default):
        given = None if own is None else own.GetPropertyOrDefault("material", name, None)
        if given is None and defaults is not None:
            given = getattr(defaults, name)
        return default if given is None else float(given)

    friction = None if own is None else own.GetPropertyOrDefault("material", "coulomb_friction", None)
    if friction is None:
        mu = 0.0 if defaults is None or defaults.dynamic_friction is None else defaults.dynamic_friction
    else:
        mu = friction.dynamic_friction()
    material = value("hunt_crossley_dissipation", 0.0), value("relaxation_time", 0.0), mu
    return Surface(
        body.reference, np.asarray(body.tetrahedra), body.config().youngs_modulus(), body.mesh.volume, material
    )


def allowed_pairs(plant, ids):
    """Which bodies and solids (bodies, solids), and which pairs of bodies (bodies, bodies) with a > b, may touch.

    Those with a proximity role that no filter keeps apart; ids: GeometryId of each solid.
    """
    deformables = plant.elements.deformable_bodies
    allowed = np.zeros((len(deformables), len(ids)), dtype=bool)
    between = np.zeros((len(deformables), len(deformables)), dtype=bool)
    if plant.scene_graph is None:
        return allowed, between
    inspector, geometries = plant.scene_graph.model_inspector(), plant.scene_graph.registry.geometries
    touches = [geometries[body.geometry_id()].proximity is not None for body in deformables]

    def may(A, B):
        return not inspector.CollisionFiltered(A, B)

    for a, body in enumerate(deformables):
        if touches[a]:
            allowed[a] = [may(body.geometry_id(), g) for g in ids]
            for b in range(a):
                between[a, b] = touches[b] and may(body.geometry_id(), deformables[b].geometry_id())
    return allowed, between
