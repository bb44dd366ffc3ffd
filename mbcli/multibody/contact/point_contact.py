"""Contact of one context of a continuous plant: forces follow from the state by a law."""

from mbcli.engine.fields.contact_fields import SAMPLES_LACKING, SAMPLES_STICTION
from mbcli.engine.fields.model_fields import CONTACT_AT_LAW
from mbcli.multibody.contact.contact_arrays import ContactArrays


class PointContact(ContactArrays):
    """Solids and contact points of a context whose contact forces are those of contact/continuous_contact.py."""

    keeper = "contact_by_law"

    def attached(self, state):
        at = super().attached(state)
        at[CONTACT_AT_LAW] = self.function(state.kernels, self.keeper)
        return at

    def set_samples(self):
        super().set_samples()
        self.samples.settings[SAMPLES_STICTION] = self.plant.stiction_tolerance_of(discrete=False)

    def place_of_contact(self, A: int, B: int) -> float:
        """The middle."""
        return 0.5

    def failed(self) -> bool:
        """Whether some contact had no room."""
        return self.samples is not None and self.samples.counts[SAMPLES_LACKING] != 0

    def make_room(self) -> None:
        self.grow()

    def statistics(self):
        """Nothing is solved."""
        return


def contacts_of_state(plant, context, *, single_points=None):
    """(PointContact, ContactRecord) at the state of a context, by the law of continuous plants, whatever the plant.

    single_points: whether a pair gives one point; default: as the plant says.
    """
    state = context.state
    with state.turn:
        state.ready_parameters()
        contact = PointContact(plant, state.model, state.compiled, single_points=single_points)
        state.at_velocities()
        data, attached = state.data, state.data.contact
        before = list(attached)
        try:
            return contact, contact.record(state)
        finally:
            if state.compiled:
                attached[:] = before
            else:
                data.contact = attached
