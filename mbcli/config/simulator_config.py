"""The settings of a simulation run: which integrator advances time, and how precisely."""

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.config_fields import ConfigRecord, setting

# The names of `pydrake.systems.analysis.GetIntegrationSchemes()`. A configuration may name any of them; the
# simulation refuses by name those that it does not implement.
INTEGRATION_SCHEMES = (
    "bogacki_shampine3",
    "cenic",
    "explicit_euler",
    "implicit_euler",
    "radau1",
    "radau3",
    "runge_kutta2",
    "runge_kutta3",
    "runge_kutta5",
    "semi_explicit_euler",
    "velocity_implicit_euler",
)


@dataclass(kw_only=True)
class SimulatorConfig(ConfigRecord):
    """Settings of a simulation: integrator, accuracy, start and pace.

    Every field is checked when it is assigned. Scheme, step size, accuracy and error control concern
    continuous plants; a discrete plant advances by its own time_step.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    __hash__ = object.__hash__  # so that one may be the default of a field of a user's dataclass

    integration_scheme: str = setting("runge_kutta3", "Integrator of a continuous plant", choices=INTEGRATION_SCHEMES)
    max_step_size: float = setting(
        0.1, "Longest step; the step itself for integrators without error control", unit="s", above=0
    )
    accuracy: float = setting(1e-4, "Error that error control aims at, relative to each coordinate's scale", above=0)
    use_error_control: bool = setting(True, "The step follows the error estimate if the integrator has one")
    start_time: float = setting(0.0, "Time at which the run starts", unit="s")
    target_realtime_rate: float = setting(
        0.0, "Simulated seconds per wall-clock second to hold back to; 0 runs as fast as possible", minimum=0
    )
    publish_every_time_step: bool = setting(False, "Publish at the end of every step")
