"""Controllers, under the names of pydrake.systems.controllers; Riccati equations are SciPy's."""

from __future__ import annotations

from mbcli.systems.pid import PidController
from mbcli.systems.plant_controllers import InverseDynamics, InverseDynamicsController, JointStiffnessController
from mbcli.systems.regulators import (
    DiscreteTimeLinearQuadraticRegulator,
    FiniteHorizonLinearQuadraticRegulator,
    FiniteHorizonLinearQuadraticRegulatorOptions,
    FiniteHorizonLinearQuadraticRegulatorResult,
    LinearQuadraticRegulator,
    MakeFiniteHorizonLinearQuadraticRegulator,
)

__all__ = [
    "DiscreteTimeLinearQuadraticRegulator",
    "FiniteHorizonLinearQuadraticRegulator",
    "FiniteHorizonLinearQuadraticRegulatorOptions",
    "FiniteHorizonLinearQuadraticRegulatorResult",
    "InverseDynamics",
    "InverseDynamicsController",
    "JointStiffnessController",
    "LinearQuadraticRegulator",
    "MakeFiniteHorizonLinearQuadraticRegulator",
    "PidController",
]
