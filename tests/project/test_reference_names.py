"""Every public name of the reference pages is present with its arguments, or listed as absent with a reason."""

import inspect
import re

import pytest
import reference_names

NAMES = reference_names.listed_names()
ROWS = reference_names.rows(NAMES)
PRESENT = [row for row in ROWS if row.module is not None and row.name.signatures]


def test_the_list_has_every_name_and_argument_of_the_pages():
    folder = reference_names.pages_folder()
    if folder is None:
        pytest.skip("no folder of saved pages: set MBCLI_REFERENCE")
    assert reference_names.list_text(reference_names.read_pages(folder)) == reference_names.list_text(NAMES)


def test_every_method_that_is_written_out_on_the_pages_is_listed():
    folder = reference_names.pages_folder()
    if folder is None:
        pytest.skip("no folder of saved pages: set MBCLI_REFERENCE")
    for page, names in NAMES.items():
        text = (folder / f"pydrake_multibody_{page}.txt").read_text(encoding="utf-8")
        written = re.findall(rf"(\w+)\s*\(self: pydrake\.multibody\.{page}\.([A-Za-z]+)", text)
        listed = {name.path for name in names}
        assert {f"{owner}.{name}" for name, owner in written if name != "__init__"} <= listed


def test_the_list_is_not_cut():
    paths = {f"{page}.{name.path}" for page, names in NAMES.items() for name in names}
    assert len(paths) == sum(len(names) for names in NAMES.values()) > 575
    assert {
        "math.SpatialVelocity.Zero",
        "tree.RevoluteSpring.nominal_angle",
        "plant.MultibodyPlant_[AutoDiffXd]",
    } < paths


def test_97_percent_of_the_names_outside_the_exceptions_are_present():
    assert reference_names.count([row for row in ROWS if row.exception is None]).percent >= 97.0


def test_the_document_counts_all_names():
    """What is left out by subject is absent, too."""
    figures, absent = reference_names.count(ROWS), reference_names.absent_by_reason(ROWS)
    assert figures.total == len(ROWS) == figures.present + sum(absent.values())
    text = reference_names.TABLE.read_text(encoding="utf-8")
    assert f"{figures.present} of {figures.total} names are present ({figures.percent:.1f} %)" in text
    assert text.count("| absent") == sum(absent.values())


def test_every_absent_name_has_a_reason():
    silent = [row.name.path for row in ROWS if row.module is None and row.exception is None and row.absent is None]
    assert silent == []


def test_no_name_listed_as_absent_is_present():
    assert [row.name.path for row in ROWS if row.module is not None and row.absent is not None] == []


def test_only_contact_and_deformable_bodies_are_excepted():
    assert {row.exception for row in ROWS} == {None, "contact", "deformable bodies"}


def test_the_table_in_docs_is_what_the_list_gives():
    assert reference_names.TABLE.read_text(encoding="utf-8") == reference_names.table_text(ROWS)


@pytest.mark.parametrize("row", PRESENT, ids=lambda row: row.name.path)
def test_arguments_are_those_of_the_page(row):
    signature = _signature(row)
    for arguments in row.name.signatures:
        required = [name for name in arguments if not name.endswith("=")]
        every = [name.rstrip("=") for name in arguments]
        for names in (required, every):
            signature.bind(*names)
            if not any(name.startswith("arg") for name in names):  # the page has no name for it
                signature.bind(**dict.fromkeys(names))


def _signature(row):
    """The signature as a caller sees it, without self."""
    found, _ = reference_names.find(row.page, row.name.path)
    signature = inspect.signature(found)
    owner, _, name = row.name.path.rpartition(".")
    if not owner:
        return signature
    owner, _ = reference_names.find(row.page, owner)
    if inspect.isfunction(inspect.getattr_static(owner, name)):
        return signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature


@pytest.mark.parametrize("scalar", ["AutoDiffXd", "Expression"])
def test_classes_of_other_scalars_have_the_members_of_the_class_of_floats(scalar):
    for row in ROWS:
        owner, _, name = row.name.path.partition(".")
        if not name:
            continue
        template = reference_names.find(row.page, owner + "_")[0]
        if row.module is not None and template is not reference_names.MISSING:
            path = f"{owner}_[{scalar}].{name}"
            assert reference_names.find(row.page, path)[1] is not None, path
