"""The series of a run by name, for measures: coordinates, actuation, energies, contacts."""

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates, StateNames
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError
from mbcli.sweeps.measures import SERIES

FIELDS_OF = {"com_x": "com", "com_y": "com", "com_z": "com", "constraint_error": "constraint_error"}
CONTACT_SERIES = {"contact_force", "contact_force_sum", "contact_depth", "slip_speed"}
OF_ACTUATOR = "u."


def fields_for(names):
    """The fields of a log that the series of these names need."""
    return ["energy", "u", "contact", *dict.fromkeys(FIELDS_OF[name] for name in names if name in FIELDS_OF)]


def check_names(plant, names):
    """ArgumentError for a name that is no series of a run of this plant."""
    finder = StateNames(plant.GetPositionNames(), plant.GetVelocityNames())
    for name in names:
        if name in SERIES:
            if name == "constraint_error" and not plant.elements.constraints:
                raise _unknown(name, "the model has no constraints")
            if name.startswith("com_") and not plant.model.link_inertia[:, 0].any():
                raise _unknown(name, "the model has no mass")
            continue
        try:
            if name.startswith(OF_ACTUATOR):
                NamedCoordinates(plant.GetActuatorNames(), "actuator").find(name.removeprefix(OF_ACTUATOR))
            else:
                finder.find(name)
        except LookupError as error:
            likely = closest(name, list(SERIES))
            raise _unknown(name, f"{error.args[0]}{f'; or {likely}?' if likely else ''}") from None


def _unknown(name, message):
    return ArgumentError(f"{argument('measures')}: '{name}' is not a series of a run: {message}")


class RunSeries:
    """The series of a MemoryLog, by name."""

    def __init__(self, log):
        self._log, self._contact = log, None

    def __call__(self, name):
        """(n,)"""
        log = self._log
        if name == "time":
            return log.times
        if name == "energy":
            return log.energy.sum(axis=1)
        if name in ("energy_kinetic", "energy_potential"):
            return log.field(f"derived/{name}")
        if name.startswith("com_") and name in SERIES:
            return log.field("derived/com")[:, "xyz".index(name[-1])]
        if name == "constraint_error":
            return log.field("derived/constraint_error")
        if name in SERIES:
            return self._of_contacts(name)
        if name.startswith(OF_ACTUATOR):
            found = NamedCoordinates(log.actuator_names, "actuator").find(name.removeprefix(OF_ACTUATOR))
            return log.u[:, found]
        return log.column(name)

    def _of_contacts(self, name):
        """Of the contacts of each row; 0 in a row without any."""
        rows = self._log.row_count
        if not self._log.has_contacts:
            return np.zeros(rows)
        if self._contact is None:
            self._contact = self._log.contacts()
        contacts = self._contact
        counts = np.diff(contacts["offset"])
        if name == "contacts":
            return counts.astype(float)
        sizes = np.linalg.norm(contacts["contact/force"], axis=1)
        values = {
            "contact_force": sizes,
            "contact_force_sum": sizes,
            "contact_depth": contacts["contact/depth"],
            "slip_speed": contacts["contact/slip_speed"],
        }[name]
        result, row = np.zeros(rows), np.repeat(np.arange(rows), counts)
        (np.add if name == "contact_force_sum" else np.maximum).at(result, row, values)
        return result
