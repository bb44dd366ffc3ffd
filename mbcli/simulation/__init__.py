"""Simulating a model: in one call with a log, or in blocks of samples.

    from mbcli.simulation import simulate

    log = simulate("robot.urdf", until=2.0, ground=0.0, start={"robot_base_z": 0.6}, log="run.h5")
    log.times, log.q, log.column("elbow"), log.state(1.0), log.contacts(), log.summary.energy_drift

running          simulate(), resume()
recorded_run     RecordedRun: a run with its log, warnings and summary
run              Run: blocks of samples from the time loops of the engine
sampling         when a run ends, when it takes samples
input_series     actuation over time
start_limits     starts outside of limits
controllers      what controllers of a file aim at
observer         what the samples of a run show
summary          the figures of a run
energy_balance   what did work in a run
recording        what a log has of a run
earlier_run      the log that a run goes on with
log_target       whether a log can be written
python_forces    the loops with forces that only Python knows
"""

from importlib import import_module

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.simulation.recorded_run import Progress, RecordedRun
    from mbcli.simulation.run import Input, Run, Samples, constant_input
    from mbcli.simulation.running import SimulationWarning, resume, simulate
    from mbcli.simulation.summary import Summary

_MODULES = {
    "Input": "run",
    "Progress": "recorded_run",
    "RecordedRun": "recorded_run",
    "Run": "run",
    "Samples": "run",
    "SimulationWarning": "running",
    "Summary": "summary",
    "constant_input": "run",
    "resume": "running",
    "simulate": "running",
}

__all__ = [
    "Input",
    "Progress",
    "RecordedRun",
    "Run",
    "Samples",
    "SimulationWarning",
    "Summary",
    "constant_input",
    "resume",
    "simulate",
]


def __getattr__(name):
    """The public names when they are asked for: a plant's file imports the loops alone."""
    if name not in _MODULES:
        raise AttributeError(f"module 'mbcli.simulation' has no attribute '{name}'")
    return getattr(import_module(f"mbcli.simulation.{_MODULES[name]}"), name)
