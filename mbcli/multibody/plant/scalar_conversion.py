"""MultibodyPlant_[T] and the conversion of a plant from one scalar type to another."""

import copy

import numpy as np

from mbcli.common.scalar_template import ScalarTemplate
from mbcli.multibody.plant.dual_results import returning_dual_numbers
from mbcli.multibody.plant.multibody_plant import MultibodyPlant
from mbcli.multibody.scalars import AUTODIFF, EXPRESSION
from mbcli.multibody.tree.parameters import DEFAULTS

ELEMENTS = ("_bodies", "_frames", "_joints", "_actuators", "_force_elements", "_constraints")


@returning_dual_numbers
class MultibodyPlantAutoDiffXd(MultibodyPlant):
    """A plant whose contexts hold AutoDiffXd: results are object arrays of values with their gradients.

    Measured for an arm of 7 joints, gradients by 14 variables, interpreted: 4 ms for the bias term, 3 ms for the mass
    matrix. One evaluation gives all gradients; CalcDerivatives(compiled=True) of a plant of floats is faster still.
    """

    _scalar = AUTODIFF


class MultibodyPlantExpression(MultibodyPlant):
    """A plant whose contexts hold SymPy expressions, for models of a few coordinates. See plant/symbolic.py."""

    _scalar = EXPRESSION


MultibodyPlant_ = ScalarTemplate(MultibodyPlant, MultibodyPlantAutoDiffXd, MultibodyPlantExpression)


class Conversion:
    """plant.ToScalarType: [T] gives a function without arguments that converts the plant."""

    def __init__(self, plant):
        self._plant = plant

    def __getitem__(self, scalar):
        plant_class = MultibodyPlant_[scalar]
        return lambda: to_scalar(self._plant, plant_class)


def to_scalar(plant, plant_class):
    """A deep copy of a finalized plant as another class: same elements in the same order, and same defaults."""
    plant._require_finalized("conversion to another scalar type")
    result = copy.deepcopy(plant, {id(plant._model): None})
    result.__class__ = plant_class
    result._model = result._compile(DEFAULTS)
    return result


def set_time_state_and_parameters(context, source):
    """What Context.SetTimeStateAndParametersFrom() does; parameters go to the elements of the same index."""
    plant, other = context._plant, source._plant
    same = {}
    for kind in ELEMENTS:
        ours, theirs = getattr(plant, kind), getattr(other, kind)
        if len(ours) != len(theirs):
            raise RuntimeError(f"the contexts belong to plants with {len(ours)} and {len(theirs)} {kind[1:]}")
        same.update(zip(theirs, ours, strict=True))
    if context._q.size != source._q.size or context._v.size != source._v.size:
        raise RuntimeError("the contexts belong to plants with different coordinates")
    for target, value in ((context._q, source._q), (context._v, source._v)):
        np.copyto(target, context._scalar.convert(value), casting="same_kind")
    context._time = source._time
    for (element, name), value in source._parameters.values.items():
        context._parameters.set(same[element], name, value)
    if source._parameters.values:
        context._parameters_current = False
    context._forget_positions()
