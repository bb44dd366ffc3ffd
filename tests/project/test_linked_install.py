"""The count of robots that are installed by links."""

import pytest
from test_linked_packages import MASS, MESH

from benchmarks.robots.linked_install import main


@pytest.mark.parametrize("uri", ["package://mine/meshes/a.obj", "../meshes/a.obj"])
def test_no_mesh_is_lost_by_links(tmp_path, capsys, uri):
    for name in ("meshes", "urdf"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    (tmp_path / "mine/package.xml").write_text("<package><name>mine</name></package>")
    (tmp_path / "mine/meshes/a.obj").write_text(MESH)
    shapes = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in (uri, "no.obj"))
    (tmp_path / "mine/urdf/r.urdf").write_text(f'<robot name="r"><link name="b">{MASS}{shapes}</link></robot>')
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[-5:] == ["1", "1", "2", "1", "1"]
