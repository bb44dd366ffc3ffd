"""Texts that once took the square or the cube of their length: they are read, and mean what they meant."""

import time
from contextlib import suppress

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.tag_mending import with_mended_tags
from mbcli.parsers.xml_source import read_xml

from mbcli.common.number_text import parse_number
from mbcli.common.text_tables import read_text_table
from mbcli.conversion.mesh_bundle import files_named_in
from mbcli.errors import ModelError
from mbcli.sweeps.variations import _parts

SIZE = 60_000
MOST = 2.0  # [s] of processor time, where the square took minutes


@pytest.fixture(autouse=True)
def _bounded():
    start = time.process_time()
    yield
    assert time.process_time() - start < MOST


def fault_of(text):
    diagnostics = Diagnostics()
    with suppress(ModelError):
        read_xml(text.encode(), diagnostics)
    return bool(diagnostics.errors)


def header_of(*lines):
    return read_text_table("t.csv", lines=iter(lines)).header


def test_units_of_a_header_are_those_of_its_last_brackets():
    header = header_of("time [s],q (rad),a [b] [m],x [,y],z [furlong],[m],w[m]", "0,1,2,3,4,5,6,7")
    assert header.names == ("time", "q", "a [b]", "x [", "y]", "z [furlong]", "[m]", "w")


@pytest.mark.parametrize("cell", ["q [" + " " * SIZE + "x", "q" + "[" * SIZE, "q" + " [x" * (SIZE // 3)])
def test_a_header_with_an_open_bracket_is_a_name(cell):
    assert header_of(f"time,{cell}", "0,1").names[1] == cell.strip()


def test_numbers_of_many_digits():
    assert parse_number("0" * SIZE + "x") is None
    assert parse_number("0" * SIZE + "1.") == 1.0
    assert [parse_number(text) for text in ("1.5e3", ".5", "5.", "+1", ".", "1e", "1.5.2")] == [
        *(1500.0, 0.5, 5.0, 1.0),
        *(None, None, None),
    ]


def test_an_open_tag_is_a_fault():
    text = "<robot name='r'><link name='b'/><" + "a" * SIZE + "</robot>"
    assert with_mended_tags(text) == (None, [])
    assert fault_of(text)


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.obj", "mtllib  two words.mtl \r\nmtllib x" + " " * SIZE + "y\n mtllib\t\n", 2),
        ("a.mtl", "map_Kd -s 1 1 1 skin.png \nbump b.png\n" + "map_Kd " + " " * SIZE + "c.png\n", 3),
        ("a.dae", "<init_from> t.png </init_from><init_from>" + " " * SIZE, 1),
    ],
)
def test_files_that_a_mesh_names_are_found(name, content, found, tmp_path):
    (tmp_path / name).write_text(content)
    names = files_named_in(str(tmp_path / name))
    assert len(names) == found
    assert names[0] == {"a.obj": "two words.mtl", "a.mtl": "skin.png", "a.dae": "t.png"}[name]


def test_commas_in_brackets_do_not_end_a_value():
    assert _parts("p", "1, [2, 3], 4") == ["1", "[2, 3]", "4"]
    assert _parts("p", "a,b[c,d]e,[f") == ["a", "b[c,d]e", "[f"]
    assert len(_parts("p", "1," * SIZE + "1")) == SIZE + 1


def test_many_declarations_and_open_comments():
    text = "<!-- a -->" + "<?xml version='1.0'?>" * (SIZE // 20) + "<robot name='r'/>"
    assert read_xml(text.encode(), Diagnostics()).tag == "robot"
    assert fault_of("<!--" * (SIZE // 4) + "<robot/>")
