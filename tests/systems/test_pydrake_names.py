"""Names of pydrake that are here, and those that are not: these can be imported, not used."""

import pytest

import mbcli.systems.framework
from mbcli.pydrake_names import PydrakeFinder


def module(name):
    finder = PydrakeFinder()
    made = finder.create_module(finder.find_spec(name))
    finder.exec_module(made)
    return made


def test_a_name_that_is_here_is_the_one_of_mbcli():
    assert module("pydrake.systems.framework").LeafSystem is mbcli.systems.framework.LeafSystem


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("pydrake.systems.framework.NoSuchSystem", "NoSuchSystem is not in mbcli"),
        ("pydrake.examples.PendulumPlant", "out of mbcli's scope: examples"),
        ("pydrake.systems.sensors.RgbdSensor", "out of mbcli's scope: cameras"),
    ],
)
def test_what_is_not_here_can_be_imported_and_derived_from_but_not_used(path, message):
    place, _, name = path.rpartition(".")
    kind = getattr(module(place), name)

    class Derived(kind):
        def __init__(self):
            super().__init__()

    for use in (lambda: kind(1), Derived, lambda: kind[float], lambda: kind.kMember, lambda: Derived.Make()):
        with pytest.raises(ImportError, match=message):
            use()
    assert not isinstance(1, kind)


def test_dunder_names_of_modules_stay_what_they_are():
    with pytest.raises(AttributeError):
        module("pydrake.examples").__wrapped__  # noqa: B018
