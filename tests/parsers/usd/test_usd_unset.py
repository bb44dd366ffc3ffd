"""Attributes of USD that are declared and have no value."""

import pytest
from usd_texts import body, read_stage, stage_text

pytest.importorskip("pxr", reason="usd-core is not installed")


def test_a_transform_without_a_value_is_none():
    text = stage_text('def Xform "robot" {' + body("a", (1, 2, 3)) + "}")
    unset = text.replace("double3 xformOp:translate = (1, 2, 3)", "double3 xformOp:translate")
    assert unset != text
    model, diagnostics = read_stage(unset)
    assert not diagnostics.errors
    assert model.links[0].X_ModelL[:3, 3].tolist() == [0.0, 0.0, 0.0]
