"""Energy and momentum balances of every run that a test makes: what the fixture in conftest.py asserts at its end."""

import math

import numpy as np

UNEXPLAINED = 1e-4  # of the energy that flowed in a discrete run: contact problems are solved to 1e-6 of momenta
OF_ROUGH_STEPS = 0.25  # the same of the error of integration in runs of MANY_STEPS and more, which a test has chosen
MANY_STEPS = 20
OF_ERROR_CONTROL = 1e3  # the same, times the accuracy and 1 J: what errors of states make of energies
ROUNDING = 1e-7  # [J], beside the energies themselves


class EnergyWatch:
    """The blocks of a run, and its balances after the last one."""

    def __init__(self, run):
        self.run = run
        self.momentum = _momentum(run)

    def check(self):
        """AssertionError where something moved the plant that nothing accounts for."""
        run, balance = self.run, self.run.energy_balance()
        if balance is None or not math.isfinite(balance.energy_change):
            return
        discrete, accuracy = run.plant.is_discrete(), run.config.accuracy
        rounding = ROUNDING * (1.0 + balance.flow)
        assert abs(balance.unexplained) <= UNEXPLAINED * balance.flow + rounding, balance
        allowed = OF_ROUGH_STEPS * balance.flow if run.steps >= MANY_STEPS else math.inf
        if not discrete and run.has_error_control():
            allowed = OF_ERROR_CONTROL * accuracy * (1.0 + balance.flow)
        assert abs(balance.rest) <= allowed + rounding, balance
        assert balance.joint_damping <= rounding, balance
        self._check_momentum(discrete)

    def _check_momentum(self, discrete):
        """Of a plant that is free of the world only gravity changes the linear momentum, by m g t."""
        if self.momentum is None:
            return
        run = self.run
        plant, (start, before) = run.plant, self.momentum
        after, t = _linear_momentum(plant, run.context), run.context.get_time() - start
        weight = plant.model.gravitating_mass[1:, 0].sum() * plant.model.gravity
        scale = np.abs(before).max() + np.abs(weight * t).max() + np.abs(after).max()
        allowed = 0.1 if discrete or not run.has_error_control() else OF_ERROR_CONTROL * run.config.accuracy
        assert np.abs(after - before - weight * t).max() <= allowed * scale + ROUNDING


def _linear_momentum(plant, context):
    return plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3)).translational()


def _momentum(run):
    """(time, momentum) at the start of a run of a plant that nothing ties to the world; None for any other."""
    plant, model = run.plant, run.plant.model
    roots = np.flatnonzero(model.body_parent[1:] == 0) + 1
    pushed = bool(run._forces)
    if pushed or run.energy_balance() is None or not roots.size or any(model.body_nv[b] != 6 for b in roots):
        return None
    between = model.bushing_link, model.spring_damper_link, model.cut_link, model.path_link
    tied = plant.elements.constraints or any(len(ends) for ends in between)
    of_joints = any(model.dof_damping[d] or model.dof_stiffness[d] for b in roots for d in _dofs(model, b))
    if tied or of_joints or run.contact is not None or np.isin(model.actuator_dof, _all_dofs(model, roots)).any():
        return None
    return run.context.get_time(), _linear_momentum(plant, run.context)


def _dofs(model, b):
    return range(model.body_v[b], model.body_v[b] + model.body_nv[b])


def _all_dofs(model, roots):
    return [d for b in roots for d in _dofs(model, b)]
