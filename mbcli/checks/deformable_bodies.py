"""The deformable bodies of models: whether their tetrahedra and their materials are fit for simulation."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError
from mbcli.meshes.volume_mesh import dihedral_angles
from mbcli.multibody.fem.body_config import MaterialModel
from mbcli.multibody.parsing.add_deformables import add_deformable
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import default_model_instance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.multibody.tree import DeformableBody
    from mbcli.parsers.diagnostics import Diagnostics

FLATTEST = 5.0  # [degrees] between two faces of a tetrahedron: flatter ones make steps hard to solve
SOFTEST, STIFFEST = 1e3, 1e12  # [Pa] jelly, and what is stiffer than diamond
LIGHTEST, HEAVIEST = 1.0, 3e4  # [kg/m^3] a gas, and what is heavier than osmium
LOCKING = 0.495  # Poisson's ratio from which linear tetrahedra hardly bend
SLOWEST = 1.0  # [s] of damping by stiffness: a second to creep back


def check_deformable_bodies(models: Iterable[Any], diagnostics: Diagnostics) -> None:
    """DEFORMABLE_MESH, DEFORMABLE_SLIVERS, DEFORMABLE_MATERIAL for the deformable links of ModelSpecs."""
    for model in models:
        check_deformable_bodies(model.models, diagnostics)
        for link in model.deformables:
            _check_material(link, diagnostics)
            plant = MultibodyPlant(1.0)
            try:
                body = add_deformable(plant, model, link, default_model_instance())
            except MbcliError as error:
                message = f'deformable link "{link.name}": {error}'
                diagnostics.error("DEFORMABLE_MESH", message, place=link.geometry.place)
            else:
                _check_tetrahedra(link, body, diagnostics)


def _check_tetrahedra(link: Any, body: DeformableBody, diagnostics: Diagnostics) -> None:
    angles = np.degrees(dihedral_angles(body.mesh.vertices, body.mesh.tetrahedra))
    least = angles.min(axis=1)
    flat = np.flatnonzero(least < FLATTEST)
    if flat.size:
        worst, quality = int(least.argmin()), body.mesh.quality
        message = (
            f'{flat.size} of {len(least)} tetrahedra of deformable link "{link.name}" are slivers: number {worst} has '
            f"{least[worst]:.2g} degrees between two faces, the largest angle is {degrees(quality.largest_angle):.4g}"
        )
        hint = "mesh it again with elements of even size: flat ones make it stiff and its steps hard to solve"
        diagnostics.warning("DEFORMABLE_SLIVERS", message, place=link.geometry.place, hint=hint)


def _check_material(link: Any, diagnostics: Diagnostics) -> None:
    def warn(message: str, hint: str) -> None:
        diagnostics.warning(
            "DEFORMABLE_MATERIAL", f'deformable link "{link.name}": {message}', place=link.place, hint=hint
        )

    config = link.config
    E, nu, density = config.youngs_modulus(), config.poissons_ratio(), config.mass_density()
    if not SOFTEST <= E <= STIFFEST:
        warn(f"Young's modulus is {E:g} Pa", "1e4 Pa is soft foam, 1e7 Pa rubber, 2e11 Pa steel; is it in kPa or GPa?")
    if not LIGHTEST <= density <= HEAVIEST:
        warn(f"the density is {density:g} kg/m^3", "water has 1000, foam 30, steel 7850; is it in g/cm^3?")
    if nu > LOCKING:
        warn(f"Poisson's ratio is {nu:g}", "linear tetrahedra lock near 0.5: at most 0.49 is useful")
    if config.stiffness_damping_coefficient() > SLOWEST:
        time = config.stiffness_damping_coefficient()
        warn(f"the stiffness damping is {time:g} s", "after a deformation it takes that long to creep back")
    if config.material_model() == MaterialModel.kNeoHookean and nu <= 0.0:
        warn(f"the neo-Hookean material of Drake has no stable rest shape at nu = {nu:g}", "use consistent_neohookean")
