"""From the deformable links of a ModelSpec to the deformable bodies of a plant."""

from mbcli.errors import MbcliError, ModelError
from mbcli.geometry.geometry_instance import GeometryInstance
from mbcli.geometry.properties import IllustrationProperties
from mbcli.geometry.rgba import Rgba
from mbcli.math import RigidTransform
from mbcli.multibody.parsing.add_geometries import proximity_of, shape_of
from mbcli.parsers.poses import compose


def add_deformables(plant, model, instance):
    """Adds the deformable links of a ModelSpec; ModelError with the place of one that the plant refuses."""
    for link in model.deformables:
        try:
            add_deformable(plant, model, link, instance)
        except RuntimeError as error:
            kind = type(error) if isinstance(error, MbcliError) else ModelError
            raise kind(f"{link.place}: error: deformable link '{link.name}': {error}") from None


def add_deformable(plant, model, link, instance):
    """The DeformableBody of a DeformableSpec of a ModelSpec; RuntimeError if the plant refuses it."""
    shape = shape_of(link.geometry.shape)
    if shape is None:
        raise ModelError("its mesh file was not found")
    X_WD = RigidTransform.MakeUnchecked(compose(model.X_WModel, link.X_ModelD)[:3])
    geometry = GeometryInstance(X_WD, shape, link.name)
    properties = proximity_of(link.geometry)
    hint = properties.GetPropertyOrDefault("hydroelastic", "resolution_hint", None)
    geometry.set_proximity_properties(properties)
    if link.color is not None:
        illustration = IllustrationProperties()
        illustration.AddProperty("phong", "diffuse", Rgba(rgba=link.color))
        geometry.set_illustration_properties(illustration)
    geometry.place = link.geometry.place
    body = plant.mutable_deformable_model().add_body(geometry, instance, link.config, hint)
    body.place, body.has_weight, body.color = link.place, link.gravity, link.color
    for wall in link.walls:
        body.SetWallBoundaryCondition(wall.point, wall.normal)
    return body
