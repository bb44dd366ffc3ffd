"""Plugins, and links that a file holds or slows down, are not written: convert says so and asks for --lossy."""

import pytest
from command_line import cli
from repository import SAMPLES

HELD = """<sdf version="1.9"><model name="m"><link name="b"><kinematic>true</kinematic>
<velocity_decay><linear>0.1</linear>
</velocity_decay></link></model></sdf>"""


@pytest.mark.parametrize("target", ["urdf", "sdf", "mjcf"])
def test_a_plugin_is_a_named_loss_of_motion(tmp_path, target):
    words = ["convert", SAMPLES / "worlds" / "diff_drive.sdf", "--to", target, "-o", tmp_path / f"out.{target}"]
    refused = cli(*words)
    assert refused.code == 3 and "the plugin 'diff_drive' [PLUGIN]" in refused.err
    assert not (tmp_path / f"out.{target}").exists()


def test_held_and_slowed_links_are_named(tmp_path):
    (tmp_path / "m.sdf").write_text(HELD)
    result = cli("convert", tmp_path / "m.sdf", "--to", "sdf", "-o", tmp_path / "out.sdf")
    assert result.code == 3 and "that link 'b' is kinematic [PLUGIN]" in result.err
    assert "the plugin 'velocity_decay' [PLUGIN]" in result.err
