"""How the time loops reach contact: by address, so that models without contact never compile it."""

from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import samples_at
from mbcli.engine.runtime.kernel import CALLER, kernel, slot

# elements of Data.contact: arrays, what functions are called with, and those that are called by address
POINTS, SOLVER, COLLISION, SAMPLES, MODEL, DATA, LAW, KEEP, FIND, SOLVE = range(10)
ADDRESSES = 10
LACKING = 1  # element of counts of the samples: what had no room, 0: nothing


@kernel
def set_contact_forces(data):
    """F_applied = forces of contact by the law of continuous plants, where solids of one can touch, else as it is."""
    at = data.contact
    if at[LAW] != 0.0:
        call_by_address(at[LAW], at[MODEL], at[DATA], at[POINTS], at[SAMPLES], -1.0)


@slot(python=CALLER)
def keeps_contacts(data):
    """Whether a run wants the contacts of its samples."""
    return data.contact[KEEP] != 0.0


@slot(python=CALLER)
def keep_contacts(data, row):
    """Keeps the contacts of a state, or of the step from it, in a row of the samples, if a run wants that.

    Returns a number that is not 0 where there was no room.
    """
    at = data.contact
    if at[KEEP] == 0.0:
        return 0.0
    return call_by_address(at[KEEP], at[MODEL], at[DATA], at[POINTS], at[SAMPLES], 1.0 * row)


@slot(python=CALLER)
def lacks_room(data):
    """Whether some contact by the law of continuous plants found no room since the samples were made."""
    return data.contact[LAW] != 0.0 and samples_at(data.contact[SAMPLES]).counts[LACKING] != 0
