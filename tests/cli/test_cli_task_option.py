"""What a task file says of its model, in commands."""

from dataclasses import fields

from mbcli.cli.simulate import simulate
from mbcli.cli.task_option import PARAMETERS
from mbcli.environments.model_of_file import Load


def test_each_key_of_load_is_a_parameter_of_simulate():
    assert set(PARAMETERS) == {field.name for field in fields(Load)}
    names = {parameter.name for parameter in simulate.params}
    assert set(PARAMETERS.values()) <= names
