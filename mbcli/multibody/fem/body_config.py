"""The material of an elastic body."""

from __future__ import annotations

from enum import IntEnum
from math import inf

from mbcli.errors import ModelError


class MaterialModel(IntEnum):
    """The law between strain and stress; docs/reference/deformable.md has the energies.

    kConsistentNeoHookean is not in pydrake: kNeoHookean takes Lame's constants as they are, so that for small strains
    its moduli are not E and nu; those of kConsistentNeoHookean are.
    """

    kLinearCorotated = 0
    kCorotated = 1
    kNeoHookean = 2
    kLinear = 3
    kConsistentNeoHookean = 4


MATERIAL_NAMES = {  # as model files spell them
    "linear": MaterialModel.kLinear,
    "linear_corotated": MaterialModel.kLinearCorotated,
    "neohookean": MaterialModel.kNeoHookean,
    "corotated": MaterialModel.kCorotated,
    "consistent_neohookean": MaterialModel.kConsistentNeoHookean,
}


class DeformableBodyConfig:
    """Parameters of an elastic body. What is new is hard rubber without damping.

    Setters raise ModelError for a value that is out of its range or not finite.
    """

    def __init__(self) -> None:
        self._youngs_modulus, self._poissons_ratio, self._mass_density = 1e8, 0.49, 1.5e3
        self._mass_damping = self._stiffness_damping = 0.0
        self._material_model = MaterialModel.kLinearCorotated

    def youngs_modulus(self) -> float:
        """E [N/m^2], 1e8 unless it is set."""
        return self._youngs_modulus

    def poissons_ratio(self) -> float:
        """nu, 0.49 unless it is set."""
        return self._poissons_ratio

    def mass_damping_coefficient(self) -> float:
        """Damping by mass [1/s], 0 unless it is set."""
        return self._mass_damping

    def stiffness_damping_coefficient(self) -> float:
        """Damping by stiffness [s], 0 unless it is set."""
        return self._stiffness_damping

    def mass_density(self) -> float:
        """Of the reference configuration [kg/m^3], 1500 unless it is set."""
        return self._mass_density

    def material_model(self) -> MaterialModel:
        """MaterialModel, kLinearCorotated unless it is set."""
        return self._material_model

    def set_youngs_modulus(self, youngs_modulus: float) -> None:
        """E [N/m^2], positive."""
        self._youngs_modulus = _within("Young's modulus", youngs_modulus, 0.0, inf)

    def set_poissons_ratio(self, poissons_ratio: float) -> None:
        """nu, greater than -1 and less than 0.5."""
        self._poissons_ratio = _within("Poisson's ratio", poissons_ratio, -1.0, 0.5)

    def set_mass_damping_coefficient(self, mass_damping_coefficient: float) -> None:
        """[1/s], not negative."""
        self._mass_damping = _not_negative("the mass damping coefficient", mass_damping_coefficient)

    def set_stiffness_damping_coefficient(self, stiffness_damping_coefficient: float) -> None:
        """[s], not negative."""
        self._stiffness_damping = _not_negative("the stiffness damping coefficient", stiffness_damping_coefficient)

    def set_mass_density(self, mass_density: float) -> None:
        """[kg/m^3], positive."""
        self._mass_density = _within("the mass density", mass_density, 0.0, inf)

    def set_material_model(self, material_model: MaterialModel) -> None:
        """A MaterialModel."""
        if not isinstance(material_model, MaterialModel):
            raise TypeError(f"set_material_model takes a MaterialModel, not {material_model!r}")
        self._material_model = material_model

    def lame_parameters(self) -> tuple[float, float]:
        """lambda and mu [N/m^2] of E and nu."""
        E, nu = self._youngs_modulus, self._poissons_ratio
        return E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), E / (2.0 * (1.0 + nu))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeformableBodyConfig) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<DeformableBodyConfig E={self._youngs_modulus:g} nu={self._poissons_ratio:g} "
            f"density={self._mass_density:g} {self._material_model.name}>"
        )


def _within(name: str, value: float, low: float, high: float) -> float:
    number = float(value)
    if not low < number < high:
        limits = "positive and finite" if high == inf else f"greater than {low:g} and less than {high:g}"
        raise ModelError(f"{name} must be {limits}, it is {number:g}")
    return number


def _not_negative(name: str, value: float) -> float:
    number = float(value)
    if not 0.0 <= number < inf:
        raise ModelError(f"{name} must be finite and not negative, it is {number:g}")
    return number
