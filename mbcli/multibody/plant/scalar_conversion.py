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
    plant, other, scalar = context._plant, source._plant, context._scalar
    if context._q.size != source._q.size or context._v.size != source._v.size:
        raise RuntimeError("the contexts belong to plants with different coordinates")
    counterpart = _counterparts(plant, other)
    converted = scalar.convert(source._q), scalar.convert(source._v)
    for target, value in zip((context._q, context._v), converted, strict=True):
        np.copyto(target, value, casting="same_kind")
    context._time = source._time
    context._parameters = source._parameters.of_elements(counterpart)
    context._parameters_current = False
    last_step = source._last_step  # of the context itself too
    context._last_step, context._before = None, None
    if last_step is not None:
        time, q, v, inputs, parameters = last_step
        inputs = {n: scalar.convert(u) if isinstance(u, np.ndarray) else u for n, u in inputs.items()}
        start = time, scalar.convert(q), scalar.convert(v), inputs
        context._last_step = *start, parameters.of_elements(counterpart)
    context._forget_positions()


def _counterparts(plant, other):
    """{element of another plant: that of this one, of the same kind and index}; RuntimeError where numbers differ."""
    if plant is other:
        return None
    same = {}
    for kind in ELEMENTS:
        ours, theirs = getattr(plant, kind), getattr(other, kind)
        if len(ours) != len(theirs):
            raise RuntimeError(f"the contexts belong to plants with {len(ours)} and {len(theirs)} {kind[1:]}")
        same.update(zip(theirs, ours, strict=True))
    return same
