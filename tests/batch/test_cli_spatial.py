"""`mbcli spatial` over tables: what columns give is what options give, in every format."""

import json

import h5py
import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.cli.spatial import COLUMNS, INERTIA, OF_ACCELERATIONS, OPERANDS

RANDOM = np.random.default_rng(3)


def operands(operation, kind):
    """{operand: (columns, numbers (3, count))}"""
    names = OPERANDS[operation] + (OF_ACCELERATIONS.get(operation, ()) if kind == "acceleration" else ())
    made = {}
    for name in names:
        columns = INERTIA if kind == "inertia" and name == "vector" else COLUMNS[name]
        made[name] = columns, RANDOM.normal(size=(3, len(columns)))
    return made


def text(numbers):
    return ",".join(map(repr, map(float, numbers)))


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        *((o, k) for o in ("shift", "rotate") for k in ("velocity", "acceleration", "force", "momentum", "inertia")),
        *(("compose", k) for k in ("velocity", "acceleration")),
        ("dot", "velocity"),
    ],
)
def test_rows_give_what_options_give(operation, kind, tmp_path):
    given = operands(operation, kind)
    first, *others = given
    in_rows = {first: given[first]} if kind == "force" else given  # with the other operands as options for all rows
    lines = [",".join(column for columns, _ in in_rows.values() for column in columns)]
    lines += [",".join(text(numbers[k]) for _, numbers in in_rows.values()) for k in range(3)]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(lines) + "\n")
    fixed = [word for name in others if name not in in_rows for word in (f"--{name}", text(given[name][1][0]))]
    words = ["spatial", operation, "--kind", kind]
    rows = [json.loads(line)["value"] for line in succeed(*words, "--states", table, *fixed).out.splitlines()]
    for k, row in enumerate(rows):
        options = [
            word
            for name, (_, numbers) in given.items()
            for word in (f"--{name}", text(numbers[k if name in in_rows else 0]))
        ]
        assert succeed(*words, *options, "--json").json()["value"] == pytest.approx(row, rel=1e-13, abs=1e-13)
    succeed(*words, "--states", table, *fixed, "-o", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        np.testing.assert_allclose(np.reshape(file["results/value"][:], np.shape(rows)), rows, rtol=1e-13)


def test_a_row_without_a_number_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"rx": 1, "ry": 0, "rz": 0, "tx": 0, "ty": 0}\n')
    found = cli("spatial", "dot", "--states", tmp_path / "rows.jsonl", "--other", "0,0,0,0,0,1")
    assert found.code == 3 and "tz" in found.err


def test_a_quaternion_of_length_0_is_no_rotation(tmp_path):
    found = cli("spatial", "rotate", "--vector", "0,0,1,0,0,0", "--rotation", "0,0,0,0")
    assert found.code == 2 and "length 0" in found.err
    (tmp_path / "rows.csv").write_text("qw,qx,qy,qz\n1,0,0,0\n0,0,0,0\n")
    found = cli("spatial", "rotate", "--vector", "0,0,1,0,0,0", "--states", tmp_path / "rows.csv")
    assert found.code == 3 and "row 2" in found.err and "length 0" in found.err
