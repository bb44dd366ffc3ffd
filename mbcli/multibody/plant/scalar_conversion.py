"""MultibodyPlant_[T]: the plants of each scalar type."""

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.plant.dual_results import DualState, returning_dual_numbers
from mbcli.multibody.plant.multibody_plant import MultibodyPlant
from mbcli.multibody.scalars import AUTODIFF, EXPRESSION
from mbcli.multibody.tree import scalar_templates  # noqa: F401  (inertias among its results become dual too)


@returning_dual_numbers
class MultibodyPlantAutoDiffXd(MultibodyPlant):
    """A plant whose contexts hold AutoDiffXd: results are object arrays of values with their gradients.

    Measured for an arm of 7 joints, gradients by 14 variables, interpreted: 4 ms for the bias term, 3 ms for the mass
    matrix. One evaluation gives all gradients; CalcDerivatives(compiled=True) of a plant of floats is faster still.
    """

    scalar = AUTODIFF
    state_class = DualState


class MultibodyPlantExpression(MultibodyPlant):
    """A plant whose contexts hold SymPy expressions, for models of a few coordinates. See plant/symbolic.py."""

    scalar = EXPRESSION


MultibodyPlant_ = ScalarTemplate(MultibodyPlant, MultibodyPlantAutoDiffXd, MultibodyPlantExpression)
