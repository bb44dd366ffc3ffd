"""The energy balances of many worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.number_text import counted
from mbcli.engine.fields.run_fields import WORKS
from mbcli.models.parameter_assignments import changed_parameters
from mbcli.multibody.stepping.energy_balance import EnergyAccount, EnergyBalance
from mbcli.simulation.energy_error import has_ideal_constraints
from mbcli.simulation.run_summary import integration_error_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import Array
    from mbcli.multibody.state.context import Context

NO_BALANCE: dict[str, Array] = {"world_work": np.zeros((0, WORKS)), "world_kinetic": np.zeros((0, 3))}


class WorldBalances:
    """The work of each cause in worlds, from where they are on; their parameters stay.

    worlds: Any.

    Attributes:
        arrays: of WORLD_FIELDS, which steps add to.
    """

    def __init__(self, worlds: Any) -> None:
        self._worlds, n = worlds, len(worlds)
        self.arrays: dict[str, Array] = {"world_work": np.zeros((n, WORKS)), "world_kinetic": np.zeros((n, 3))}
        self._contexts: dict[int, Context] = {}
        for context, numbers, overrides in worlds.contexts():
            with changed_parameters(worlds.loaded, overrides):
                own = worlds.plant.CreateDefaultContext()
                own.state.take_parameters(context.state)
            self._contexts |= dict.fromkeys(numbers.tolist(), own)
        self._accounts: dict[int, EnergyAccount] = {}
        self.begin(range(n))

    def begin(self, which: Iterable[int]) -> None:
        """Worlds of these numbers have done no work where they are."""
        for k in which:
            self._accounts[k] = EnergyAccount(self._at(k))
            for sums in self.arrays.values():
                sums[k] = 0.0

    def _at(self, k: int) -> Context:
        worlds, context = self._worlds, self._contexts[k]
        context.SetTime(float(worlds.time[k]))
        worlds.plant.SetPositions(context, worlds.q[k])
        worlds.plant.SetVelocities(context, worlds.v[k])
        return context

    def results(self) -> list[EnergyBalance]:
        """One a world, to where it is."""
        work, kinetic = self.arrays["world_work"], self.arrays["world_kinetic"]
        return [
            account.balance(self._at(k), work[k], kinetic[k, 1:].tolist() if kinetic[k, 0] else [])
            for k, account in sorted(self._accounts.items())
        ]

    def in_words(self) -> str | None:
        """How many worlds have an error of the integration that is not small, and which the largest; None if none."""
        worlds, found, largest = self._worlds, self.results(), self.arrays["world_kinetic"][:, 2]
        ideal = has_ideal_constraints(worlds.plant, self._contexts[0])
        wrong = [k for k, balance in enumerate(found) if balance.is_considerable(ideal, float(largest[k]))]
        if not wrong:
            return None
        most = max(wrong, key=lambda k: abs(found[k].error(ideal)))
        words = integration_error_in_words(worlds.plant, found[most], ideal, argument("dt"), bool(found[most].contact))
        return f"{len(wrong)} of {counted(len(found), 'world')}; in world {most} {words}"
