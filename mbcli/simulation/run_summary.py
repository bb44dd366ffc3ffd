"""What a run came to: its Summary, and what is to be said of its energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.simulation.actors.plugins import Plugins
from mbcli.simulation.actors.pushes import Pushes
from mbcli.simulation.energy_error import advice, energy_error, error_in_words, has_ideal_constraints, is_driven
from mbcli.simulation.energy_gain import gain_in_words, is_passive
from mbcli.simulation.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.energy_balance import EnergyBalance
    from mbcli.multibody.stepping.inputs import Input
    from mbcli.multibody.stepping.run import Run
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.observer import Observer


def summary_of(recorded: ActedRun, run: Run, observer: Observer, log: str | None, rows: int | None) -> Summary:
    """The Summary of a run whose steps are taken; warns of an error of the integration that is not small."""
    plant, context = recorded.plant, recorded.context
    simulated, wall = context.get_time() - recorded.began, recorded.stopwatch.seconds
    of_actors: dict[str, Any] = {"exceeded_efforts": [], "efforts_beyond": []}
    for actor in recorded.actors:
        of_actors |= actor.summary()
    energies = [] if plant.model.sizes["nbushing"] else observer.energies
    first, last = energies if energies else (None, None)
    return Summary(
        status="interrupted" if recorded.is_to_end() else "complete",
        steps=run.steps,
        refused_steps=run.refused_steps,
        start_time=recorded.began,
        end_time=context.get_time(),
        simulated_time=simulated,
        wall_time=wall,
        realtime_rate=simulated / wall if simulated and wall else None,
        time_step=plant.time_step(),
        integrator=None if plant.is_discrete() else run.config.integration_scheme,
        energy_start=first,
        energy_end=last,
        energy_drift=None if first is None or last is None else last - first,
        energy_error=energy_error(run, observer.energy_change, _acting(recorded), recorded.controlled),
        balance=_balance_of(recorded, run, observer),
        constraint_error=observer.constraint_error,
        contact=observer.contact_summary(),
        efforts=observer.effort_summary(recorded.controlled),
        tracking=observer.tracking_summary(),
        exceeded_limits=observer.exceeded_limits,
        velocities_beyond=observer.fast(),
        log=log,
        rows=rows,
        **of_actors,
    )


def warn_of_energy(recorded: ActedRun, run: Run, observer: Observer, summary: Summary) -> None:
    """Warns of a passive plant that gains energy, or of an energy that an integration does not keep."""
    plant, context, change = recorded.plant, recorded.context, observer.energy_change
    gain, complaint = change.gain(), None
    if gain is not None and not _may_drive(recorded) and is_passive(plant, context):
        complaint = gain_in_words(plant, context, gain, advice(run))
    elif summary.energy_error is not None:
        complaint = error_in_words(run, summary.energy_error, change)
    if complaint is not None:
        recorded.warn(complaint)


def _may_drive(recorded: ActedRun) -> bool:
    """Whether pushes, inputs, controllers or plugins may give the plant energy."""
    plugins = recorded.actor(Plugins)
    if not plugins:
        return bool(recorded.forces) or is_driven(_acting(recorded), recorded.controlled)
    actuation = recorded.actuation
    pushed = bool(recorded.actor(Pushes))
    return plugins.may_drive() or pushed or is_driven(actuation, recorded.controlled)


def _acting(recorded: ActedRun) -> Input | None:
    """The input of the run; None if it is not known before, as that of a controller."""
    return None if recorded.controller is not None or recorded.actor(Pushes) else recorded.actuation


def _balance_of(recorded: ActedRun, run: Run, observer: Observer) -> dict[str, float] | None:
    """The energy balance of a run; an error of the integration that is not small is reported."""
    if not recorded.given["balance"]:
        return None
    balance = run.energy_balance()
    if balance is None:
        recorded.warn(f"{argument('balance')}: the work of all causes is not known, {run.why_no_balance()}")
        return None
    ideal, discrete = has_ideal_constraints(recorded.plant, recorded.context), recorded.plant.is_discrete()
    if balance.is_considerable(ideal, observer.energy_change.most_kinetic):
        name = "dt" if discrete else "accuracy" if run.has_error_control() else "max_step"
        touched = discrete and observer.most_contacts > 0
        recorded.warn(integration_error_in_words(recorded.plant, balance, ideal, argument(name), touched))
    return balance.as_dict()


def integration_error_in_words(
    plant: MultibodyPlant, balance: EnergyBalance, ideal: bool, option: str, touched: bool
) -> str:
    """How large the error of the integration is, and what makes it smaller.

    ideal: as of EnergyBalance.error(). option: that of the length of steps. touched: whether discrete steps had
    contact.
    """
    lessening = f"a smaller {option} makes it smaller"
    if touched and any(solid.bounce[0] > 0.0 for solid in plant.compiled_geometries().solids):
        lessening = (
            f"what a bounce adds depends on when in a step it falls, so that a {option} of a tenth makes it smaller, a "
            "little smaller one not always"
        )
    lost_in_contact = touched and balance.contact_dissipation == 0.0
    keeping = f", {argument('dt', 0)} keeps the energy of contact without losses" if lost_in_contact else ""
    size = f"{balance.error(ideal):.3g} J of {balance.flow:.3g} J that flowed"
    return f"the error of the integration is {size}: {lessening}{keeping}"


def balance_in_words(balance: Mapping[str, float]) -> str:
    """The entries of an EnergyBalance that are not rounding."""
    names = ["actuators", "joint_damping", "joint_friction", "force_elements", "contact", "limits", "constraints"]
    names += ["pushes", "plugins"]
    work = [
        f"{name.replace('_', ' ')} {balance[name]:.4g} J"
        for name in names
        if abs(balance[name]) > 1e-9 * balance["flow"]
    ]
    parts = ("contact_friction", "contact_dissipation", "compliance_change")
    stored = ""
    if any(abs(balance[name]) > 1e-9 * balance["flow"] for name in parts):
        friction, dissipation, change = (f"{balance[name]:.4g} J" for name in parts)
        stored = f"; compliant contact stores {change} more, contact friction {friction}, dissipation {dissipation}"
    return f"work of {', '.join(work) or 'nothing'}{stored}; error of the integration {balance['rest']:.3g} J"
