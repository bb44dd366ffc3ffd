"""A law of contact is one file and one line: what it lacks is told at import, and nobody else asks for its name."""

import re
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from repository import ROOT

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.engine.contact.laws import lagged
from mbcli.engine.contact.laws.registry import CONSTANTS, LAWS, cost_of, response_of
from mbcli.engine.fields.contact_fields import BOUNDED, LAW_NUMBERS
from mbcli.engine.runtime.dispatch import dispatch, operation_of, require_constants
from mbcli.multibody.plant import DiscreteContactApproximation

# the solver of the law that has no cost, and what only lets contacts of sap stick
KNOW_THEIR_LAW = {"tamsi.py", "substeps.py", "sticking.py", "newton.py", "islands.py", "arrays.py", "rows.py"}


def test_an_operation_that_a_law_lacks_is_an_error_with_its_name_when_it_is_imported():
    module = ModuleType("mbcli.engine.contact.laws.sticky")
    module.__file__ = "sticky.py"
    for operation in ("response", "cost", "begin", "regularize"):
        with pytest.raises(ImportError, match=rf"laws.sticky lacks {operation}_sticky\(\)"):
            dispatch({"__file__": "x.py"}, "of_law", operation, {1: lagged, 2: module}, "law, i", "")
    with pytest.raises(ImportError, match="laws.sticky lacks CONVEX"):
        require_constants([module], CONSTANTS)


def test_laws_of_contact_are_the_choices_of_plants_and_come_first_in_arrays():
    assert [f"k{law.capitalize()}" for law in CONTACT_LAWS] == [law.name for law in DiscreteContactApproximation]
    assert [law.value for law in DiscreteContactApproximation] == [LAW_NUMBERS[law] for law in CONTACT_LAWS]
    assert len(CONTACT_LAWS) == BOUNDED


@pytest.mark.parametrize("law", LAW_NUMBERS)
def test_each_law_is_called_by_its_number(law):
    module, v = LAWS[LAW_NUMBERS[law]], (0.02, -0.01, -0.03)
    one = SimpleNamespace(con_kind=[LAW_NUMBERS[law]], con_law=np.array([[0.7, 1e3, 5.0, 1e-3, 1e-2, 1e-2, 0.3, 0, 0]]))
    for kernel, operation in ((response_of, "response"), (cost_of, "cost")):
        assert kernel(one, 0, *v) == operation_of(operation, module)(one.con_law, 0, *v)


def test_no_module_compares_the_name_or_number_of_a_law_of_contact():
    laws = [law for law in CONTACT_LAWS if law != "mujoco"]  # a program and a group of properties are called so too
    names = "|".join([*laws, *map(str.upper, CONTACT_LAWS)])
    asks = re.compile(rf"""(==|!=|\bin|\bnot in) \(?["']?({names})\b""")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for room in ("mbcli", "parsers")
        for path in sorted((ROOT / room).rglob("*.py"))
        if not (path.parent.name == "contact" and path.name in KNOW_THEIR_LAW)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if asks.search(line)
    ]
    assert found == []
