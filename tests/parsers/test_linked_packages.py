"""Packages that a model may lead to: by manifest, by the user's word, around it; those that are installed by links."""

import os
from pathlib import Path

import pytest
from command_line import cli
from mbcli.parsers.package_map import PackageMap

from mbcli.errors import ResourceError

MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SECRET = "secret-token line"


def robot(*uris):
    shapes = "".join(f'<collision><geometry><mesh filename="{uri}"/></geometry></collision>' for uri in uris)
    return f'<robot name="r"><link name="b">{MASS}{shapes}</link></robot>'


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A workspace after colcon build --symlink-install: every file of the package is a link to its source."""
    source, share = tmp_path / "src/mine", tmp_path / "install/mine/share/mine"
    files = {"package.xml": "<package><name>mine</name></package>", "meshes/a.obj": MESH}
    uris = ("package://mine/meshes/a.obj", "../meshes/a.obj", f"file://{share}/meshes/a.obj")
    files["urdf/robot.urdf"] = robot(*uris)
    for name, content in files.items():
        for folder in (source, share):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content)
        os.symlink(source / name, share / name)
    monkeypatch.chdir(tmp_path)
    for variable in ("MBCLI_PACKAGE_PATH", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return share


def test_links_lead_into_the_same_package(installed):
    result = cli("check", installed / "urdf/robot.urdf", "--meshes")
    assert "URI_" not in result.out + result.err
    elsewhere = installed / "meshes/b.obj"
    (installed.parents[3] / "other.obj").write_text(MESH)
    os.symlink(installed.parents[3] / "other.obj", elsewhere)
    with pytest.raises(ResourceError, match=f"as a link to .*; --package mine={installed} trusts the links there"):
        PackageMap(environment={}).resolve("package://mine/meshes/b.obj", installed / "urdf")


@pytest.mark.parametrize("way", ["named", "searched", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "nothing"])
def test_from_elsewhere_the_word_of_the_user_counts(installed, tmp_path, way):
    """By package:// and, as xacro's $(find mine) gives it, by file://; links in what is named lead anywhere."""
    (tmp_path / "other.obj").write_text(MESH)
    os.symlink(tmp_path / "other.obj", installed / "meshes/b.obj")
    variables = {"ROS_PACKAGE_PATH": str(tmp_path / "install"), "AMENT_PREFIX_PATH": str(tmp_path / "install/mine")}
    packages = PackageMap(environment={way: variables[way]} if way in variables else {})
    if way == "named":
        packages.add("mine", installed)
    if way == "searched":
        packages.add_path(tmp_path / "install")
    (tmp_path / "elsewhere").mkdir()
    for name in ("a", "b"):
        path = f"{installed}/meshes/{name}.obj"
        for uri in (f"package://mine/meshes/{name}.obj", f"file://{path}", f"file:///{path}"):
            if way == "nothing":
                with pytest.raises(ResourceError):
                    packages.resolve(uri, tmp_path / "elsewhere")
            else:
                assert packages.resolve(uri, tmp_path / "elsewhere") == str(installed / f"meshes/{name}.obj")
    with pytest.raises(ResourceError, match="is outside of"):
        packages.resolve(f"file://{tmp_path}/other.obj", tmp_path / "elsewhere")


def test_a_link_to_a_package_of_another_name_is_not_followed(installed, tmp_path):
    other = tmp_path / "src/theirs"
    (other / "meshes").mkdir(parents=True)
    (other / "package.xml").write_text("<package><name>theirs</name></package>")
    (other / "meshes/c.obj").write_text(MESH)
    os.symlink(other / "meshes/c.obj", installed / "meshes/c.obj")
    with pytest.raises(ResourceError, match="is outside of"):
        PackageMap(environment={}).resolve("package://mine/meshes/c.obj", installed / "urdf")


@pytest.fixture
def alice(tmp_path, monkeypatch):
    """A home with a downloaded robot and something private."""
    for folder in ("Downloads/robot/urdf", "Downloads/robot/meshes", "private"):
        (tmp_path / "alice" / folder).mkdir(parents=True)
    home = tmp_path / "alice"
    (home / "private/notes.txt").write_text(SECRET)
    (home / "private/part.obj").write_text(MESH)
    (home / "Downloads/robot/meshes/a.obj").write_text(MESH)
    (home / "Downloads/mine.xml").write_text("<mujoco/>")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "Downloads/robot")
    return home


MODELS = {
    "m.xml": '<mujoco><include file="package://{}"/></mujoco>',
    "d.dmd.yaml": "directives:\n- add_directives:\n    file: package://{}\n",
    "w.sdf": '<sdf version="1.10"><model name="m"><include><uri>package://{}</uri></include></model></sdf>',
}


@pytest.mark.parametrize("uri", ["alice/private/notes.txt", "Downloads/mine.xml", "alice/private/part.obj"])
@pytest.mark.parametrize("name", MODELS)
def test_the_name_of_a_folder_around_makes_no_package(alice, name, uri):
    Path(name).write_text(MODELS[name].format(uri))
    result = cli("inspect", name)
    assert result.code == 4, result.err
    assert "secret" not in result.out + result.err
    assert "no package" in result.err or "is outside of" in result.err


@pytest.mark.parametrize("folder", ["urdf", "deep/er/urdf", "."])
def test_the_folder_of_a_model_without_manifest_serves_its_meshes(alice, folder):
    """Many repositories have such URIs and no package.xml."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "r.urdf").write_text(robot("package://robot/meshes/a.obj"))
    result = cli("check", Path(folder, "r.urdf"), "--meshes")
    assert "URI_" not in result.out + result.err


def test_the_home_and_what_is_far_above_serve_nothing(alice):
    packages = PackageMap(environment={})
    deep = alice / "Downloads/robot/a/b/c/d/e"
    deep.mkdir(parents=True)
    for uri in ("package://alice/private/part.obj", "package://robot/meshes/a.obj"):
        with pytest.raises(ResourceError, match="no package"):
            packages.resolve(uri, deep)
    (alice / "Downloads/robot/.git").mkdir()  # a checkout is one package
    assert packages.resolve("package://robot/meshes/a.obj", alice / "Downloads/robot/a/b")
    packages.add("alice", alice)
    assert packages.resolve("package://alice/private/notes.txt", deep)


def test_text_of_files_that_a_reference_reaches_is_not_quoted(tmp_path, monkeypatch):
    """Path, line and kind of fault alone: it may be a private one that was taken for a model."""
    monkeypatch.chdir(tmp_path)
    texts = ("hunter2 line\n", "user: hunter2: word\n", "hunter2: x\n", "directives:\n- hunter2: 1\n")
    texts += ("<hunter2><b></hunter2>",)
    for text in texts:
        Path("notes.txt").write_text(text)
        Path("m.xml").write_text('<mujoco><include file="notes.txt"/></mujoco>')
        Path("d.dmd.yaml").write_text("directives:\n- add_directives:\n    file: file://notes.txt\n")
        Path("w.sdf").write_text(MODELS["w.sdf"].replace("package://{}", "notes.txt"))
        for name in ("m.xml", "d.dmd.yaml", "w.sdf"):
            result = cli("inspect", name)
            assert "hunter2" not in result.out + result.err, (name, text)
    faults = {"a.obj": "v hunter2 1 2\nf 1 1 1\n"}
    faults["a.stl"] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex hunter2 1 1\n"
    for mesh, text in faults.items():
        Path(mesh).write_text(text)
        Path("r.urdf").write_text(robot(mesh))
        result = cli("check", "r.urdf", "--meshes")
        assert "cannot be read" in result.out + result.err
        assert "hunter2" not in result.out + result.err
    Path("notes.txt").rename("notes.xml")
    assert "hunter2" in cli("inspect", "notes.xml").err  # of the file that the user names


BAD = "hunter2"
INNER = {  # a file that a reference leads to, sound but for values: its text
    "part.xml": f'<mujocoinclude><body name="{BAD}"><geom size="{BAD}"/><{BAD}/></body></mujocoinclude>',
    "model.xml": f'<mujoco model="{BAD}"><worldbody><body name="{BAD}"><joint range="{BAD}"/></body></worldbody>'
    "</mujoco>",
    "part.sdf": f'<sdf version="1.9"><model name="{BAD}"><link name="{BAD}"><pose>{BAD}</pose><{BAD}/></link></model>'
    "</sdf>",
    "part.urdf": f'<robot name="{BAD}"><link name="{BAD}"><inertial><mass value="{BAD}"/></inertial></link></robot>',
    "part.dmd.yaml": f"directives:\n- add_frame: {{name: {BAD}, X_PF: {{base_frame: [{BAD}]}}}}\n- {BAD}: 1\n",
    "part.usda": f'#usda 1.0\n(defaultPrim = "p")\ndef Xform "p" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) '
    f'{{\n    def PhysicsRevoluteJoint "{BAD}"\n    {{\n        uniform token physics:axis = "{BAD}"\n    }}\n}}\n',
    "broken.usda": f'#usda 1.0\n(defaultPrim = "p")\ndef Xform "p" {{ double a = {BAD} }}\n',
    "part.obj": f"mtllib {BAD}.mtl\nusemtl {BAD}\nv 0 0 {BAD}\nf 1 1 1\n",
    "part.mtl": f"newmtl {BAD}\nKd {BAD} 0 0\nmap_Kd {BAD}.png\n",
    "part.dae": f'<COLLADA><library_geometries><geometry id="{BAD}"><{BAD}/></geometry></library_geometries></COLLADA>',
    "part.gltf": f'{{"asset": {{"version": "2.0"}}, "meshes": [{{"name": "{BAD}", "primitives": [{{"{BAD}": 1}}]}}]}}',
    "part.stl": f"solid {BAD}\nfacet normal 0 0 1\nouter loop\nvertex {BAD} 1 1\n",
    "part.xacro": f'<robot xmlns:xacro="http://ros.org/wiki/xacro"><link name="{BAD}"><{BAD}/></link>'
    f"<xacro:{BAD}/></robot>",
}
OUTER = {  # file: (its text, the files that it can lead to)
    "m.xml": ('<mujoco><worldbody><include file="{}"/></worldbody></mujoco>', ("part.xml",)),
    "a.xml": ('<mujoco><asset><model name="a" file="{}"/></asset><worldbody><attach model="a" prefix="x"/></worldbody>'
              "</mujoco>", ("model.xml",)),
    "g.xml": ('<mujoco><asset><mesh name="a" file="{}"/></asset><worldbody><geom type="mesh" mesh="a"/></worldbody>'
              "</mujoco>", ("part.obj", "part.stl")),
    "w.sdf": ('<sdf version="1.9"><world name="w"><include><uri>{}</uri></include></world></sdf>', ("part.sdf",)),
    "d.dmd.yaml": ("directives:\n- add_directives:\n    file: file://{}\n", ("part.dmd.yaml",)),
    "e.dmd.yaml": ("directives:\n- add_model: {{name: a, file: file://{}}}\n", ("part.urdf", "part.sdf", "model.xml")),
    "r.urdf": (robot("{}"), ("part.obj", "part.dae", "part.gltf", "part.stl", "mtl.obj")),
    "x.urdf.xacro": ('<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r"><xacro:include filename="{}"/></robot>',
                     ("part.xacro",)),
    "u.usda": ('#usda 1.0\n(defaultPrim = "r")\ndef Xform "r" (prepend references = @{}@) {{}}\n',
               ("part.usda", "broken.usda")),
    "s.usda": ('#usda 1.0\n(\ndefaultPrim = "p"\nsubLayers = [@{}@]\n)\n', ("part.usda", "broken.usda")),
}  # fmt: skip
LEADS = [(outer, inner) for outer, (_, inners) in OUTER.items() for inner in inners]


@pytest.mark.parametrize(("outer", "inner"), LEADS)
def test_no_value_of_a_file_outside_is_quoted(outer, inner, tmp_path, monkeypatch):
    """--allow-outside lets it be read; what it says is told of the folder's own files alone."""
    if outer.endswith("usda"):
        pytest.importorskip("pxr")
    if outer.endswith("xacro"):
        pytest.importorskip("xacro")
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name, text in INNER.items():
        (tmp_path / "outside" / name).write_text(text)
    (tmp_path / "outside/mtl.obj").write_text(MESH + "mtllib part.mtl\n")
    Path(outer).write_text(OUTER[outer][0].format(tmp_path / "outside" / inner))
    told = ""
    for command in ("check", "inspect", "energy"):
        options = ["--meshes"] if command == "check" else []
        result = cli("-v", command, outer, "--allow-outside", "--xacro", *options)
        told += result.err + (result.out if command == "check" else "")
        assert result.code != 70
    assert BAD not in told
    found = cli("check", outer, "--allow-outside", "--xacro", "--json").json()["findings"]
    assert BAD not in str(found)


def test_values_of_the_folder_and_of_packages_that_the_user_names_are_quoted(tmp_path, monkeypatch):
    (tmp_path / "work/sub").mkdir(parents=True)
    (tmp_path / "pack").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "pack/package.xml").write_text("<package><name>pack</name></package>")
    for folder in (tmp_path / "pack", tmp_path / "work/sub"):
        (folder / "part.xml").write_text(INNER["part.xml"])
    for uri in ("sub/part.xml", "package://pack/part.xml"):
        Path("m.xml").write_text(OUTER["m.xml"][0].format(uri))
        assert BAD in cli("check", "m.xml", "--package", f"pack={tmp_path / 'pack'}").out, uri
