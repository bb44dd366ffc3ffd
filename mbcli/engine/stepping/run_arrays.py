"""The arrays of a run, as objects that the time loops take."""

from mbcli.engine.fields.run_fields import (
    ACTUATION_FIELDS,
    BALANCE_FIELDS,
    RECORDING_FIELDS,
    STEPPING_FIELDS,
    WORLD_FIELDS,
)
from mbcli.engine.runtime.model import Arrays, WritableArrays


class Stepping(WritableArrays):
    """One attribute per entry of STEPPING_FIELDS: the steps of a discrete plant.

    led_to: [q; v] at the end of a run, from which single steps go on.

    Args:
        size: numbers of a state.
    """

    fields = STEPPING_FIELDS

    def __init__(self, size):
        super().__init__({"ny": size})
        self.led_to = None

    def start(self, step, last, sampled, length, implicit_damping):
        """A run begins.

        Args:
            step, last: the step that comes next, and the one at which the run ends; the time of a step is its number
                times the length.
            sampled: steps from one sample to the next.
            length: [s] of a step.
            implicit_damping: whether joint damping acts by the new velocities.
        """
        self.next_step[0], self.last_step[0], self.sampled_step[0] = step, last, sampled
        self.step_length[0], self.implicit_damping[0] = length, implicit_damping


class Actuation(WritableArrays):
    """One attribute per entry of ACTUATION_FIELDS: the actuation of a run.

    Args:
        times: (nchange,) [s] increasing.
        values: (nchange, nu) [N m or N] that hold from these times on.
        pushes: forces on links, each with link, point, force, start and end.
    """

    fields = ACTUATION_FIELDS

    def __init__(self, times, values, pushes=()):
        super().__init__({"nchange": len(times), "nu": values.shape[1], "npush": len(pushes)})
        self.actuation_times[:], self.actuation_values[:] = times, values
        self._pushes = pushes
        for k, push in enumerate(pushes):
            self.push_link[k], self.push_point[k], self.push_times[k] = push.link, push.point, (push.start, push.end)
        self.take_forces()

    def take_forces(self):
        """The forces of the pushes as they are now."""
        for k, push in enumerate(self._pushes):
            self.push_force[k] = push.force


class Recording(WritableArrays):
    """One attribute per entry of RECORDING_FIELDS: room for the samples of a run.

    Args:
        rows: samples.
        sizes: nq, nv, nu, npd, nactivation, nlink and nrow by name.
        keeps_efforts: whether the last sample of a discrete plant takes a step too, for the efforts in it.
        keep_accelerations: whether samples have them.
        keep_loads: whether they have where steps took their forces, and the loads there.
    """

    fields = RECORDING_FIELDS

    def __init__(self, rows, sizes, keeps_efforts=False, keep_accelerations=False, keep_loads=False):
        ny = sizes["nq"] + sizes["nv"]
        kept = {"nvdot": rows, "ny": ny} if keep_accelerations else {"nvdot": 0, "ny": 0}
        kept |= {"nload": rows, "nkept": ny} if keep_loads else {"nload": 0, "nkept": 0}
        super().__init__({"nsample": rows, **kept, **sizes})
        self.keeps_efforts[0] = keeps_efforts

    def want(self, times):
        """Asks for samples at other times (at most as many as there are rows) than those before."""
        self.wanted_times[: len(times)] = times
        self.times_wanted[0], self.next_wanted[0] = len(times), 0

    def loads(self, count):
        """Copies of recorded_load_q, recorded_load_v, recorded_loads and recorded_wrench of the first samples."""
        recorded = (self.recorded_load_q, self.recorded_load_v, self.recorded_loads, self.recorded_wrench)
        return [array[:count].copy() for array in recorded]

    def samples(self, count):
        """Copies of the first samples: time, q, v, energy with errors of constraints, u, effort, aims; vdot if kept;
        activations."""
        recorded = (self.recorded_time, self.recorded_q, self.recorded_v, self.recorded_energy, self.recorded_u)
        recorded += (self.recorded_effort, self.recorded_desired, self.recorded_vdot, self.recorded_activation)
        return [array[:count].copy() for array in recorded]


class WorldArrays(Arrays):
    """One attribute per entry of WORLD_FIELDS: worlds that step together. The arrays are others' too, and given."""

    fields = WORLD_FIELDS

    def __init__(self, **arrays):
        self.__dict__.update(arrays)


class Balance(WritableArrays):
    """One attribute per entry of BALANCE_FIELDS: the energy balance of a run of a model of the given sizes."""

    fields = BALANCE_FIELDS
