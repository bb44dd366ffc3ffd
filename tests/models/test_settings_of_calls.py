"""The records of settings: calls, options and logs have what they say, and nothing else."""

import inspect

import pytest
from mbcli.parsers.load_arguments import AllLoadArguments, LoadArguments

from mbcli.cli.run_settings import plant_arguments, run_arguments
from mbcli.cli.simulate import simulate as simulate_command
from mbcli.common.setting import never, settings_of
from mbcli.models.loading import load_model
from mbcli.multibody.stepping.run import CONSTRAINT_TOLERANCE
from mbcli.simulation import run_arguments as records
from mbcli.simulation.recorded_run import RecordedRun
from mbcli.simulation.run_arguments import RunArguments, SimulateArguments
from mbcli.simulation.running import simulate

FUNCTIONS = [(load_model, AllLoadArguments), (simulate, SimulateArguments), (RecordedRun, RunArguments)]


@pytest.mark.parametrize(("function", "record"), FUNCTIONS, ids=lambda item: item.__name__)
def test_signature_and_docstring_are_those_of_the_record(function, record):
    parameters = inspect.signature(function).parameters
    for name, setting in settings_of(record).items():
        assert parameters[name].default is setting.default
        assert f"        {name}: " in function.__doc__
    assert "{settings}" not in function.__doc__
    assert all(len(line) <= 120 for line in function.__doc__.splitlines() if "of mbcli.log.fields" not in line)


@pytest.mark.parametrize(("function", "record"), FUNCTIONS, ids=lambda item: item.__name__)
def test_an_argument_that_there_is_not_is_refused_by_name(function, record):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'grund'"):
        function("no_such_file.urdf", grund=0.0)


def test_every_option_of_a_setting_is_one_of_simulate():
    options = {parameter.name: parameter for parameter in simulate_command.params}
    for name, setting in settings_of(SimulateArguments).items():
        for option in setting.options:
            assert options[option.parameter].opts == list(option.flags), name
            assert options[option.parameter].default == option.kind.get("default", options[option.parameter].default)


def test_every_setting_with_an_option_reaches_the_model_or_the_run():
    context = simulate_command.make_context("simulate", ["arm.urdf"])
    from mbcli.cli.options import Options

    options = Options(**context.params)
    of_model = {name for name, setting in settings_of(LoadArguments).items() if setting.of == "model"}
    reached = {*plant_arguments(options), *run_arguments(options), *of_model, "inputs"}
    assert reached == {name for name, setting in settings_of(SimulateArguments).items() if setting.options}


def test_what_is_not_said_of_a_setting_is_refused_to_logs():
    from mbcli.common.setting import Setting

    assert Setting("anything").log_may_ask is never


def test_the_tolerance_of_constraints_is_that_of_the_steps():
    assert records.CONSTRAINT_TOLERANCE == CONSTRAINT_TOLERANCE
