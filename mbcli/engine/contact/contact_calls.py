"""How the time loops reach contact: by address, so that models without contact never compile it."""

from mbcli.engine.fields.contact_fields import FACE_MOMENT, SAMPLES_FRICTION_POWER, SAMPLES_LACKING
from mbcli.engine.fields.model_fields import (
    CONTACT_AT_DATA,
    CONTACT_AT_KEEP,
    CONTACT_AT_LAW,
    CONTACT_AT_MODEL,
    CONTACT_AT_POINTS,
    CONTACT_AT_SAMPLES,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import samples_at
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.spatial import add, cross, row3


@kernel
def set_contact_forces(data):
    """F_applied = forces of contact by the law of continuous plants, if solids of one can touch, else as it is."""
    at = data.contact
    if at[CONTACT_AT_LAW] != 0.0:
        call_by_address(
            at[CONTACT_AT_LAW],
            at[CONTACT_AT_MODEL],
            at[CONTACT_AT_DATA],
            at[CONTACT_AT_POINTS],
            at[CONTACT_AT_SAMPLES],
            -1.0,
        )


@kernel
def friction_power_of_contact(data):
    """Power of friction in the forces that set_contact_forces() has set last [W]."""
    at = data.contact
    if at[CONTACT_AT_LAW] == 0.0:
        return 0.0
    return samples_at(at[CONTACT_AT_SAMPLES]).settings[SAMPLES_FRICTION_POWER]


@slot(python=INJECTED)
def keeps_contacts(data):
    """Whether a run wants the contacts of its samples."""
    return data.contact[CONTACT_AT_KEEP] != 0.0


@slot(python=INJECTED)
def keep_contacts(data, row):
    """Keeps the contacts of a state, or of the step from it, in a row of the samples, if a run wants that.

    Returns a number that is not 0 if there was no room.
    """
    at = data.contact
    if at[CONTACT_AT_KEEP] == 0.0:
        return 0.0
    return call_by_address(
        at[CONTACT_AT_KEEP],
        at[CONTACT_AT_MODEL],
        at[CONTACT_AT_DATA],
        at[CONTACT_AT_POINTS],
        at[CONTACT_AT_SAMPLES],
        1.0 * row,
    )


@kernel
def sum_contacts(data, sums):
    """sums[g] = moment about World's origin and force that contacts have on solid g in the step that was taken.

    Returns a number that is not 0 if there was no room.
    """
    for g in range(sums.shape[0]):
        for k in range(6):
            sums[g, k] = 0.0
    if data.contact[CONTACT_AT_KEEP] == 0.0:
        return 0.0
    if keep_contacts(data, 0) != 0.0:
        return 1.0
    samples = samples_at(data.contact[CONTACT_AT_SAMPLES])
    for i in range(samples.offset[1]):
        force = row3(samples.force, i, 0)
        moment = add(cross(row3(samples.position, i, 0), force), row3(samples.face, i, FACE_MOMENT))
        for side in range(2):
            g, sign = samples.geometry[i, side], 1.0 - 2.0 * side
            for k in range(3):
                sums[g, k] += sign * moment[k]
                sums[g, 3 + k] += sign * force[k]
    return 0.0


@slot(python=INJECTED)
def lacks_room(data):
    """Whether some contact by the law of continuous plants found no room since the samples were made."""
    return (
        data.contact[CONTACT_AT_LAW] != 0.0
        and samples_at(data.contact[CONTACT_AT_SAMPLES]).counts[SAMPLES_LACKING] != 0
    )
