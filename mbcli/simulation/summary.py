"""The figures of a run that was made."""

from dataclasses import asdict

from mbcli.common.fast_dataclass import dataclass


@dataclass(frozen=True)
class Summary:
    """What a run came to.

    Attributes:
        status: "complete" or "interrupted".
        steps, refused_steps: steps of this run; those that error control tried and did not take.
        start_time, end_time: [s] of this run.
        simulated_time, wall_time: [s]; the wall-clock time of the steps, without compiling and writing.
        realtime_rate: their quotient, None if it is not known.
        time_step, integrator: [s], 0 for a continuous plant; None for a discrete one.
        energy_start, energy_end, energy_drift: [J] kinetic and potential, of the first and the last row; the
            difference. None without rows, and with bushings, which have no potential energy.
        energy_error: [J] the largest change of the energy since the first sample, with its sign, where forces only
            exchange kinetic and potential energy; None where something drives or brakes the plant, or touches.
        balance: work by its causes [J], the fields of EnergyBalance; None if it was not kept.
        constraint_error: largest norm of the position errors; None without constraints.
        contact: most_contacts in a row, most_faces of surfaces, and in discrete plants statistics of the contact
            problems; None if nothing can touch.
        efforts: of the actuators with controllers, also those that hold and drive joints: for each the actuator, most
            and last effort in the rows and the limit (None without one) [N m or N], time_at_limit [s].
        tracking: of the joints of a trajectory: position and largest_error [rad or m] in the rows; None without one.
        exceeded_limits: positions that were beyond their limits in some row.
        exceeded_efforts: actuators whose input is beyond their effort limit; efforts_beyond: for each of them the
            actuator, the limit and the largest input [N m or N], and the time [s] for which it is beyond.
        velocities_beyond: velocities that were at their limits, or beyond them where these do not act: for each of them
            its name, the limit and the most [rad/s or m/s], and the time [s] for which it was there in the rows.
        log, rows: the file (None without one) and the rows in it.
    """

    status: str
    steps: int
    refused_steps: int
    start_time: float
    end_time: float
    simulated_time: float
    wall_time: float
    realtime_rate: float | None
    time_step: float
    integrator: str | None
    energy_start: float | None
    energy_end: float | None
    energy_drift: float | None
    energy_error: float | None
    balance: dict | None
    constraint_error: float | None
    contact: dict | None
    efforts: list
    tracking: list | None
    exceeded_limits: list
    exceeded_efforts: list
    efforts_beyond: list
    velocities_beyond: list
    log: str | None
    rows: int | None

    def as_dict(self) -> dict:
        """The keys of `mbcli simulate --json`."""
        return asdict(self)
