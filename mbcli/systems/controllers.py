"""Controllers, under the names of pydrake.systems.controllers; Riccati equations are SciPy's."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.systems.pid import PidController as PidController
    from mbcli.systems.plant_controllers import (
        InverseDynamics as InverseDynamics,
        InverseDynamicsController as InverseDynamicsController,
        JointStiffnessController as JointStiffnessController,
    )
    from mbcli.systems.regulators import (
        DiscreteTimeLinearQuadraticRegulator as DiscreteTimeLinearQuadraticRegulator,
        FiniteHorizonLinearQuadraticRegulator as FiniteHorizonLinearQuadraticRegulator,
        FiniteHorizonLinearQuadraticRegulatorOptions as FiniteHorizonLinearQuadraticRegulatorOptions,
        FiniteHorizonLinearQuadraticRegulatorResult as FiniteHorizonLinearQuadraticRegulatorResult,
        LinearQuadraticRegulator as LinearQuadraticRegulator,
        MakeFiniteHorizonLinearQuadraticRegulator as MakeFiniteHorizonLinearQuadraticRegulator,
    )
