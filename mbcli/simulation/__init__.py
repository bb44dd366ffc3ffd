"""Simulating a model: in one call with a log, or in blocks of samples (Run, of mbcli.multibody.stepping).

    from mbcli.simulation import simulate

    log = simulate("robot.urdf", until=2.0, ground=0.0, start={"robot_base_z": 0.6}, log="run.h5")
    log.times, log.q, log.column("elbow"), log.state(1.0), log.contacts(), log.summary.energy_drift

running          simulate(), simulate_each(), resume()
worlds           Worlds: many states that step together
world_starts     where they start
worlds_run       runs from many starts, with their log
world_checkpoint what worlds need to go on
recorded_run     RecordedRun: a run with its log, warnings and summary
acted_run        what a run and its actors share
run_arguments    the settings of a run, one record each
actors           what acts in a run, a file a kind
run_start        where a run starts
run_warnings     how runs from Python warn
run_log          rows, events and checkpoints of a run
run_summary      what a run came to
progress         how far a run is
sampling         when a run ends, when it takes samples
input_series     actuation over time
start_limits     starts outside of limits
controllers      what controllers of a file aim at
holding          controllers that hold and drive joints
control          controllers of users, motion plans
joint_loads      what actuators and joints bear
observer         what the samples of a run show
summary          the figures of a run
recording        what a log has of a run
earlier_run      the log that a run goes on with
earlier_worlds   the same of many worlds
same_model       whether a log is of this model
log_target       whether a log can be written
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.stepping.inputs import Input as Input, constant_input as constant_input
    from mbcli.multibody.stepping.run import Run as Run
    from mbcli.multibody.stepping.samples import Samples as Samples
    from mbcli.simulation.holding import context_that_holds as context_that_holds
    from mbcli.simulation.progress import Progress as Progress
    from mbcli.simulation.recorded_run import RecordedRun as RecordedRun
    from mbcli.simulation.run_warnings import SimulationWarning as SimulationWarning
    from mbcli.simulation.running import resume as resume, simulate as simulate, simulate_each as simulate_each
    from mbcli.simulation.summary import Summary as Summary
    from mbcli.simulation.worlds import Worlds as Worlds
