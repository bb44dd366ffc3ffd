"""Where tests stand: in rooms that mirror the packages, and what they share in tests/support."""

from collections import Counter

import pytest
from costly_files import TURN
from peer_imports import Module
from repository import ROOT, SUPPORT, TESTS, files_of_tests

# rooms of no package: tests against other engines, and tests of the repository, its documents and its rules
OTHER_ROOMS = ("peers", "project")
MOST = 30  # files in a room
FILES = files_of_tests()
ROOMS = sorted({path.parent.relative_to(TESTS).as_posix() for path in FILES})


def is_a_room(room):
    """Whether tests may stand in tests/ROOM: a package of mbcli/ or of the checkout has that path."""
    packages = (ROOT / "mbcli" / room / "__init__.py", ROOT / room / "__init__.py")
    return room in OTHER_ROOMS or (room != "." and any(path.is_file() for path in packages))


def is_of_peers_alone(path):
    """Whether every test of a file is marked `peers`."""
    text = path.read_text(encoding="utf-8")
    module = Module(path.stem, text) if "mark.peers" in text else None
    return module is not None and all(module.marks or test.marks for test in module.tests)


def test_every_test_file_stands_in_the_room_of_a_package():
    assert [room for room in ROOMS if not is_a_room(room)] == []
    assert set(OTHER_ROOMS) < set(ROOMS)


def test_a_file_outside_of_the_rooms_is_found():
    assert not is_a_room(".") and not is_a_room("support") and not is_a_room("engine/contacts")
    assert is_a_room("engine/contact") and is_a_room("parsers/urdf")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_small(room):
    assert len(list((TESTS / room).glob("test_*.py"))) <= MOST


def test_names_of_test_files_and_helpers_are_their_own():
    """Tests import each other and their helpers by these names alone."""
    count = Counter(path.stem for path in (*FILES, *SUPPORT.glob("*.py")))
    assert [name for name, times in count.items() if times > 1] == []


def test_what_tests_share_stands_in_support():
    scripts = SUPPORT / "pydrake_scripts", SUPPORT / "pydrake_cases"  # they run as they are
    others = {path for path in TESTS.rglob("*.py") if path not in FILES and path.parent not in (SUPPORT, *scripts)}
    assert others == {TESTS / "conftest.py"}


def test_files_that_compare_with_other_engines_alone_stand_in_their_room():
    assert {path for path in FILES if is_of_peers_alone(path)} == set((TESTS / "peers").glob("test_*.py"))


def test_files_that_two_processes_begin_with_are_there():
    assert set(TURN) <= {path.name for path in FILES}
