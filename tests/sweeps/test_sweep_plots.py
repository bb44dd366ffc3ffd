"""Pictures of sweeps: units on all axes, and words where there is no value."""

import html
import math
import re

import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.models.loading import load_model
from mbcli.sweeps.column_units import column_units
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.plot import plot_table
from mbcli.sweeps.result_table import ResultTable
from mbcli.sweeps.run_series import series_unit
from mbcli.sweeps.variations import parse_variations

PENDULUM, CART = SAMPLES / "double_pendulum.urdf", SAMPLES / "cart_pole.sdf"


@pytest.mark.parametrize(
    ("measure", "unit"),
    [
        ("max(abs(elbow))", "rad"),
        ("rms(elbow_w - 1)", "rad/s"),
        ("final(shoulder) - 0.5", "rad"),
        ("time_of(elbow > 1)", "s"),
        ("fraction(elbow > 1)", ""),
        ("integral(elbow_w)", "rad"),
        ("integral(elbow_w * u.elbow)", "J"),
        ("max(elbow_w * effort.elbow)", "W"),
        ("max(reaction.elbow.force)", "N"),
        ("max(reaction.elbow.moment_z)", "N m"),
        ("final(energy) / first(energy)", ""),
        ("max(com_x) / max(time)", "m/s"),
        ("hypot(max(com_x), max(com_y))", "m"),
        ("atan2(max(com_x), max(com_y))", "rad"),
        ("max(contact_force) + max(com_x)", None),
        ("max(com_x) ** 2", None),
        ("max(sqrt(contact_force))", None),
        ("max(constraint_error)", None),
        ("contacts_mean=mean(contacts)", ""),
        ("2 * pi", ""),
    ],
)
def test_measures_have_the_unit_of_their_expression(measure, unit):
    plant = load_model(PENDULUM, contact=True).plant
    assert Measure(measure).unit(lambda name: series_unit(plant, name)) == unit


@pytest.mark.parametrize(
    ("model", "path", "unit"),
    [
        (PENDULUM, "joint.elbow.damping=0.1", "N m s/rad"),
        (PENDULUM, "joint.elbow.damping=*2", None),
        (PENDULUM, "body.*.mass=+0.5", "kg"),
        (PENDULUM, "body.lower.com.z=0.1", "m"),
        (PENDULUM, "actuator.elbow.effort_limit=1", "N m"),
        (PENDULUM, "state.elbow=1", "rad"),
        (PENDULUM, "state.elbow_w=1", "rad/s"),
        (PENDULUM, "state=random", None),
        (PENDULUM, "u.elbow=1", "N m"),
        (PENDULUM, "plant_config.time_step=0.001", "s"),
        (PENDULUM, "plant_config.contact_model=point", None),
        (CART, "joint.slider.damping=0.1", "N s/m"),
        (CART, "joint.*.damping=0.1", "N m s/rad or N s/m"),
        (SAMPLES / "quadruped.urdf", "geometry.*.friction=0.6", None),
    ],
)
def test_what_varies_has_the_unit_of_its_element(model, path, unit):
    loaded = load_model(model, contact=True)
    (variation,) = parse_variations([path])
    assert column_units(loaded, [variation], []).get(variation.column) == unit


@pytest.mark.parametrize(("status", "why"), [("ok", "no run gave a number"), ("timeout", "no run ended well")])
def test_axes_have_units_and_an_empty_picture_says_why(tmp_path, status, why):
    pytest.importorskip("matplotlib")
    damping, factor, speed, late = "joint.elbow.damping", "body.lower.mass (*)", "max(elbow_w)", "time_of(elbow > 9)"
    measured = {speed: 2.0, late: math.nan} if status == "ok" else {}
    rows = [{damping: d, factor: f, "status": status, **measured} for d in (0.1, 0.2) for f in (1.0, 2.0)]
    table = ResultTable((damping, factor, "status", *measured), rows, (damping, factor))
    units = {damping: "N m s/rad", speed: "rad/s", late: "s"}
    plot_table(table, [speed, late], str(tmp_path / "t.svg"), units)
    words = re.findall(r"<!-- (.*?) -->", html.unescape((tmp_path / "t.svg").read_text(encoding="utf-8")))
    for label in (f"{damping} [N m s/rad]", "body.lower.mass, factor", f"{speed} [rad/s]", f"{late} [s]"):
        assert label in words
    assert words.count(why) == (2 if status == "ok" else 4)


def test_a_sweep_replaces_its_picture_and_gives_it_the_units(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MBCLI_JIT", "0")
    (tmp_path / "t.svg").write_text("an earlier picture")
    words = ("-t", 0.01, "-j", 1, "-o", "t.csv", "--force", "--plot", "t.svg", "--measure", "max(elbow_w)")
    succeed("-q", "sweep", PENDULUM, *words, "--vary", "joint.elbow.damping=0.1")
    text = (tmp_path / "t.svg").read_text(encoding="utf-8")
    assert "max(elbow_w) [rad/s]" in text and "joint.elbow.damping [N m s/rad]" in text
