"""The types of arguments that functions hand on to load_model() are those of load_model()."""

import inspect

from mbcli.models.load_arguments import AllLoadArguments
from mbcli.models.loading import load_model
from mbcli.simulation.running import simulate


def test_arguments_that_are_handed_on_are_those_of_load_model():
    parameters = dict(inspect.signature(load_model).parameters)
    del parameters["models"]
    own = AllLoadArguments.__annotations__
    assert own.keys() == parameters.keys()
    assert {name: kind.__forward_arg__ for name, kind in own.items()} == {
        name: parameter.annotation for name, parameter in parameters.items()
    }


def test_simulate_names_what_is_held_and_driven_itself():
    assert inspect.signature(simulate).parameters["loading"].annotation == "Unpack[LoadArguments]"
    assert inspect.signature(simulate).parameters.keys() >= {"hold", "kp", "kd", "drive"}
