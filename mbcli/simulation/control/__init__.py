"""Controllers in the loop of a run: functions and classes of Python, other programs, compiled functions, motion plans.

    from mbcli.simulation import simulate

    def controller(time, q, v):
        return -40.0 * q - 4.0 * v

    log = simulate("arm.urdf", 2.0, weld=["base"], controller=controller)

choices            what a user may ask for
make_controller    which controller `--controller` and `controller=` mean
plans              motions of joints over time
follow             how joints follow them
run_controller     what the following ones have in common
python             functions and classes of Python
python_file        those of a file
pipe               other programs, by lines of JSON; docs/how-to/control.md has the protocol
compiled_function  functions that the loop of steps calls by address
commands           what a controller returns, as efforts of actuators and aims of PD controllers
saved              the state of a controller in a log
watchdog           the time limit of a call
in_a_run           what goes with a controller in a run
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.simulation.control.choices import ControllerChoice as ControllerChoice, Follow as Follow
    from mbcli.simulation.control.commands import Command as Command
    from mbcli.simulation.control.compiled_function import compiled as compiled
