"""What varies in a sweep and which points that makes; figures of runs as expressions."""

import math

import numpy as np
import pytest

from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.points import make_points, read_points
from mbcli.sweeps.variations import parse_variations, require_kinds

# ---------------------------------------------------------------------------------------------- variations


def values(text):
    (variation,) = parse_variations([f"joint.a.damping={text}"])
    return [variation.cell(value) for value in variation.values]


def test_lists_and_ranges():
    assert values("0.1, 0.2,5e-1") == [0.1, 0.2, 0.5]
    assert values("linspace(0, 1, 5)") == [0.0, 0.25, 0.5, 0.75, 1.0]
    np.testing.assert_allclose(values("geomspace(0.01, 1, 3)"), [0.01, 0.1, 1.0])
    assert values("arange(0, 0.3, 0.1)") == [0.0, 0.1, 0.2]
    assert values("arange(1, 0, -0.5)") == [1.0, 0.5]
    assert values("*linspace(0.5, 1.5, 3)") == [0.5, 1.0, 1.5]
    (vector,) = parse_variations(["body.a.com=[0, 0, 1],[0, 0, 2]"])
    assert vector.values == ("[0, 0, 1]", "[0, 0, 2]")


def test_the_column_says_what_is_relative():
    relative, mixed, setting = parse_variations(
        ["body.a.mass=*0.5,*2", "body.b.mass=*0.5,2", "plant_config.contact_model=point,hydroelastic"]
    )
    assert (relative.column, mixed.column) == ("body.a.mass (*)", "body.b.mass")
    assert setting.cell("point") == "point"


def test_numbers_from_python_are_the_same_numbers():
    third = 1.0 / 3.0
    (variation,) = parse_variations({"joint.a.damping": np.array([third, 2.0])})
    assert variation.cell(variation.values[0]) == third


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joint.a.damping", "must be PATH=VALUES"),
        ("joint.a.damping=", "a value is missing"),
        ("joint.a.damping=1,,2", "a value is missing"),
        ("joint.a.damping=x", "'x' is not a number"),
        ("joint.a.damping=1,uniform(1, 2)", "is not a number"),
        ("joint.a.damping=unifrom(1, 2)", "there is no unifrom(); did you mean uniform?"),
        ("joint.a.damping=uniform(1)", "uniform() takes the numbers least, most, not (1)"),
        ("joint.a.damping=uniform(2, 1)", "2 is not less than 1"),
        ("joint.a.damping=loguniform(0, 1)", "greater than 0"),
        ("joint.a.damping=geomspace(-1, 1, 3)", "two numbers of one sign"),
        ("joint.a.damping=linspace(0, 1, 2.5)", "a whole number from 1"),
        ("joint.a.damping=linspace(0, 1, 1e9)", "a whole number from 1"),
        ("joint.a.damping=arange(0, 1, -1)", "no step of -1 leads"),
        ("joint.a.damping=__import__('os')", "there is no"),
        ("state=1", "is 'random', not '1'"),
    ],
)
def test_wrong_variations_name_their_path(text, message):
    with pytest.raises(ArgumentError) as caught:
        parse_variations([text])
    assert str(caught.value).startswith("vary ") and message in str(caught.value).replace("'__import__", "there is no")


def test_a_path_varies_once():
    with pytest.raises(ArgumentError, match="is varied twice"):
        parse_variations(["a.b=1", "a.b=2"])


def test_a_name_without_its_kind_is_asked_for_it():
    for name in ("elbow", "trunk_z"):
        with pytest.raises(ArgumentError, match=f"{name}: is no setting; state.{name} for the start"):
            require_kinds(parse_variations([f"{name}=1,2"]))
    require_kinds(parse_variations(["random_seed=1,2", "state=random", "u.motor=1"]))


# ---------------------------------------------------------------------------------------------- points


def test_the_last_path_of_a_grid_varies_fastest():
    points = make_points(parse_variations(["a=1,2", "b=x,y,z"]))
    assert [tuple(p.values.values()) for p in points] == [(a, b) for a in "12" for b in "xyz"]
    assert [p.index for p in points] == [0, 1, 2, 3, 4, 5]


def test_seeds_differ_and_do_not_depend_on_the_number_of_points():
    few, many, other = (
        make_points(parse_variations(["a=uniform(0, 1)"]), samples=n, seed=s) for n, s in ((5, 1), (50, 1), (5, 2))
    )
    assert list(few) == many[:5]
    assert len({p.seed for p in (*many, *other)}) == 55
    assert all(0 <= p.seed < 2**53 for p in many)


def test_a_latin_hypercube_has_one_point_in_each_slice():
    points = make_points(
        parse_variations(["a=uniform(2, 4)", "b=loguniform(0.01, 1)", "c=p,q"]), "latin-hypercube", samples=40
    )
    a = np.array([float(p.values["a"]) for p in points])
    b = np.array([float(p.values["b"]) for p in points])
    assert sorted(np.floor((a - 2.0) / 2.0 * 40).astype(int)) == list(range(40))
    assert sorted(np.floor(np.log(b / 0.01) / np.log(100.0) * 40).astype(int)) == list(range(40))
    assert [p.values["c"] for p in points].count("p") == 20


def test_monte_carlo_has_the_moments_of_its_distributions():
    points = make_points(parse_variations(["a=normal(3, 0.5)", "b=*integers(1, 4)"]), samples=4000)
    a = np.array([float(p.values["a"]) for p in points])
    assert abs(a.mean() - 3.0) < 0.05 and abs(a.std() - 0.5) < 0.03
    texts = [p.values["b"] for p in points]
    assert set(texts) == {"*1", "*2", "*3", "*4"} and all(
        abs(texts.count(f"*{k}") / 4000 - 0.25) < 0.04 for k in (1, 4)
    )


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a=uniform(0, 1)", {}, "is a distribution: samples says how many"),
        ("a=1,2", {"sampling": "grid", "samples": 3}, "a grid has as many points as its values"),
        ("a=1,2", {"sampling": "latin-hypercube"}, "needs samples"),
        ("a=1,2", {"sampling": "sobol"}, "is one of grid, latin-hypercube, monte-carlo"),
        ("a=linspace(0,1,1000)", {"twice": True}, "the grid has more than 1000000 points"),
    ],
)
def test_points_that_cannot_be_made(text, arguments, message):
    variations = parse_variations([text])
    if arguments.pop("twice", False):
        variations = parse_variations([text, text.replace("a=", "b="), "c=1,2"])
    with pytest.raises(ArgumentError, match=message):
        make_points(variations, **arguments)


def test_a_list_of_points_in_a_file(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("joint.a.damping, state.b\n0.5,1\n\n*2,-1\n")
    variations, points = read_points(path)
    assert [v.path for v in variations] == ["joint.a.damping", "state.b"]
    assert [p.values for p in points] == [
        {"joint.a.damping": "0.5", "state.b": "1"},
        {"joint.a.damping": "*2", "state.b": "-1"},
    ]
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ModelError, match=r"points\.csv:3: error: 1 values, the header has 2 columns"):
        read_points(path)
    path.write_text("a,a\n1,2\n")
    with pytest.raises(ModelError, match="there twice"):
        read_points(path)
    with pytest.raises(ResourceError, match="no such file"):
        read_points(tmp_path / "gone.csv")


# ---------------------------------------------------------------------------------------------- measures

TIME = np.linspace(0.0, 2.0, 201)
SERIES = {"x": np.sin(3.0 * TIME), "y": TIME**2, "a b": 2.0 - TIME, "u.m": np.ones(201), "i::z": -TIME}


def measured(text):
    return Measure(text)(SERIES.__getitem__, TIME)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("min(x)", SERIES["x"].min()),
        ("max(abs(x))", np.abs(SERIES["x"]).max()),
        ("mean(y)", SERIES["y"].mean()),
        ("rms(x)", np.sqrt(np.mean(SERIES["x"] ** 2))),
        ("final(y) - first(y)", 4.0),
        ("span('a b')", 2.0),
        ("integral(y)", 8.0 / 3.0),
        ("time_of(y > 1)", 1.01),
        ("time_of_max(x)", TIME[SERIES["x"].argmax()]),
        ("fraction(x > 0 and y < 100)", np.mean(SERIES["x"] > 0)),
        ("fraction(not (x > 0) or x > 0)", 1.0),
        ("max(x * 2 + 1)", 2.0 * SERIES["x"].max() + 1.0),
        ("min(max(x, 0.25))", 0.25),
        ("-2 ** 2 + 3 * 2", 2.0),
        ("2 ** 3 ** 2", 512.0),
        ("2 ** -1", 0.5),
        ("8 - 2 - 1", 5.0),
        ("1e-3 * final(u.m) / (2 - 1.5)", 2e-3),
        ("final(i::z) + pi", math.pi - 2.0),
        ("sqrt(final(y)) == 2", 1.0),
        # conditions are 1 and 0 in sums, differences and integrals
        ("integral(u.m > 0)", 2.0),
        ("span(y > 1)", 1.0),
        ("max((x > 0) + (y >= 0) + (u.m == 1))", 3.0),
        ("mean((x > 0) - (x < 0))", np.mean(np.sign(SERIES["x"]))),
        ("min(-(y > 1))", -1.0),
        ("max(not (y > 1) + 1)", 0.0),
    ],
)
def test_measures_are_what_they_say(text, expected):
    np.testing.assert_allclose(measured(text), expected, rtol=1e-4 if "integral" in text else 1e-12)


def test_what_never_comes_true_has_no_time():
    assert math.isnan(measured("time_of(x > 2)"))


def test_a_measure_may_have_a_name():
    assert (Measure("fall = time_of(x < 0)").name, Measure("max(x)").name) == ("fall", "max(x)")
    assert Measure("final(x) == 1").name == "final(x) == 1"
    assert Measure("max(x + y - x)").names == ("x", "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "is a series: min, max"),
        ("", "a number, name or bracket is expected"),
        ("max(x", "')' is expected, not its end"),
        ("max(x))", "')' is not expected there"),
        ("maxx(x)", "there is no function maxx(); did you mean max()?"),
        ("mean(3)", "mean() takes a series, not one number"),
        ("sin(x, y)", "sin() takes one argument, not 2"),
        ("max(x) ; 1", "cannot be read from '; 1' on"),
        ("max(x[0])", "cannot be read from '[0])' on"),
        ("__import__('os').system('true')", "cannot be read from '.system('true')' on"),
        ("(" * 100 + "1" + ")" * 100, "levels"),
        ("-" * 1000 + "1", "levels"),
        ("1" * 3000, "is longer than"),
        ("1 < 2 < 3", "'<' is not expected there"),
        ("+".join("1" * 300), "has more than 200 operators"),
    ],
)
def test_what_is_no_measure_is_refused(text, message):
    with pytest.raises(ArgumentError) as caught:
        Measure(text)
    assert message in str(caught.value)
