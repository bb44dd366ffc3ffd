"""Block: samples of a run, of which some become rows of its log."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.fields.kept_contacts import KeptContacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.log.fields.logged_plant import LoggedPlant
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray


class Block:
    """The chosen rows of Samples; n is their number.

    Args:
        logged: LoggedPlant of the run.
        samples: Samples of a Run.
        chosen: mask of the samples that become rows.
    """

    def __init__(self, logged: LoggedPlant, samples: Any, chosen: BoolArray) -> None:
        self.logged, self.samples, self.chosen = logged, samples, chosen
        self.q, self.v = samples.q[chosen], samples.v[chosen]

    def at_states(self, size: int, evaluate: Callable[[Any, Any], FloatArray], *, actuated: bool = False) -> FloatArray:
        """(n, size): what evaluate(plant, context) gives at q and v of each row; actuated: with its actuation too.

        Controllers do not act there, and their aims are not set.
        """
        plant, context = self.logged.plant, self.logged.context
        result, u = np.empty((len(self.q), size)), self.samples.u[self.chosen]
        for k in range(len(self.q)):
            plant.SetPositions(context, self.q[k])
            plant.SetVelocities(context, self.v[k])
            if actuated and u.shape[1]:
                plant.get_actuation_input_port().FixValue(context, u[k])
            result[k] = evaluate(plant, context)
        return result

    def of_deformables(self) -> FloatArray:
        """(n, 3 K): places of the vertices of all deformable bodies."""
        return np.concatenate([x[self.chosen].reshape(len(self.q), -1) for x in self.samples.deformables], axis=1)

    def contact_counts(self) -> IntArray:
        """(n,): contact points and faces of surfaces."""
        return np.diff(self.samples.contacts.offset)[self.chosen]

    def sums_of_contacts(self, values: FloatArray) -> FloatArray:
        """(n,): of values of contact points and faces, one for each in the samples."""
        offset = self.samples.contacts.offset
        count = len(offset) - 1
        sums: Any = np.bincount(np.repeat(np.arange(count), np.diff(offset)), values, minlength=count)
        return sums[self.chosen]

    @cached_property
    def contacts(self) -> KeptContacts:
        """The contacts of the rows."""
        return KeptContacts(self.samples.contacts, self.chosen, self.logged.has_surfaces)
