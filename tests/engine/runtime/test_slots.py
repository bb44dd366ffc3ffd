"""Kernels in whose place others run: each says so where it stands, and what runs there takes the same."""

import inspect
import subprocess
import sys

import pytest

from mbcli.engine import load_kernels
from mbcli.engine.runtime.kernel import DEFAULT, INJECTED, KERNELS, KINDS, SLOTS, slot
from mbcli.engine.runtime.linking import all_kernels, bodies_of, filler_at, link_interpreted
from mbcli.engine.smooth import mass_matrix, trigonometry
from mbcli.engine.stepping import contact_step, step

all_kernels()
FILLED = [
    pytest.param(function, filler, id=f"{function.__name__}-{kind}")
    for function, fillers in SLOTS.items()
    for kind, filler in fillers.items()
    if filler not in (INJECTED, DEFAULT)
]


def parameters(function):
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize("function, filler", FILLED)
def test_fillers_take_what_the_slot_takes(function, filler):
    assert len(parameters(filler_at(filler))) == len(parameters(function))


def test_kernels_of_one_name_do_not_exist():
    names = [function.__name__ for function in KERNELS]
    assert len(names) == len(set(names))


def test_what_is_not_a_slot_is_not_replaced():
    with pytest.raises(ValueError, match="mass_matrix.mass_matrix is not a slot of kind"):
        link_interpreted({"numbers"}, {mass_matrix.mass_matrix: lambda model, data: None})
    with pytest.raises(ValueError, match="step.start_step is not a slot of kind"):
        link_interpreted({"python"}, {step.start_step: lambda model, data, h: None})
    with pytest.raises(ValueError, match="not kinds of kernels"):
        bodies_of({"plane"})
    with pytest.raises(ValueError, match="not kinds of kernels"):
        slot(plane="smooth.plain.element_energy")


def test_with_contact_its_dynamics_and_the_own_ends_of_a_step_run():
    bodies = bodies_of({"contact", "constrained"})
    assert bodies[step.accelerate] is contact_step.accelerate_in_contact
    assert bodies[step.start_step] is contact_step.start_step_in_contact
    assert bodies_of({"constrained"})[step.start_step].__name__ == "start_constrained_step"
    assert all(function is body for function, body in bodies_of(()).items())


def test_what_a_caller_gives_is_called_by_the_others():
    def double(x):
        return 2.0 * x

    kernels = link_interpreted({"numbers"}, {trigonometry.square_root: double})
    assert kernels.square_root is double
    assert kernels.position_kinematics.__globals__["dot"] is kernels.dot
    assert load_kernels(False).square_root is trigonometry.square_root


def test_one_command_lists_all_slots_with_their_fillers():
    done = subprocess.run([sys.executable, "-m", "mbcli.engine"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    for function, fillers in SLOTS.items():
        assert f".{function.__name__}\n" in done.stdout
        assert all(filler in done.stdout for filler in fillers.values())
    assert all(kind in done.stdout for kind in KINDS)
