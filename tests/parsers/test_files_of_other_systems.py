"""Names of files as Windows, browsers and other checkouts have them, and files that Git LFS has not fetched."""

import os

import pytest
from command_line import cli
from mbcli.parsers.name_spellings import of_other_case, spellings

MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 12345\n"
ADVICE = "it is a pointer of Git LFS, not the file itself: `git lfs pull` in its checkout fetches it"
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
PART = '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
MODEL = '<sdf version="1.9"><model name="m"><link name="l"/></model></sdf>'


def urdf(uri):
    shape = f'<collision><geometry><mesh filename="{uri}"/></geometry></collision>'
    return f'<robot name="r"><link name="b"><inertial><mass value="1"/>{INERTIA}</inertial>{shape}</link></robot>'


def mjcf(file):
    body = '<body><joint/><geom size=".1"/><geom type="mesh" mesh="a" mass="1"/></body>'
    return f'<mujoco><asset><mesh name="a" file="{file}"/></asset><worldbody>{body}</worldbody></mujoco>'


def sdf(uri):
    shape = f'<collision name="c"><geometry><mesh><uri>{uri}</uri></mesh></geometry></collision>'
    return f'<sdf version="1.9"><model name="m"><link name="l">{shape}</link></model></sdf>'


def included(uri):
    return f'<sdf version="1.9"><world name="w"><include><uri>{uri}</uri></include></world></sdf>'


MESHES = {"r.urdf": urdf, "r.xml": mjcf, "r.sdf": sdf}
INCLUDES = {
    "w.sdf": included,
    "w.xml": lambda file: f'<mujoco><include file="{file}"/></mujoco>',
    "attached.xml": lambda file: (
        f'<mujoco><asset><model name="p" file="{file}"/></asset>'
        "<worldbody><attach model='p' prefix='q_'/></worldbody></mujoco>"
    ),
    "w.dmd.yaml": lambda file: f"directives:\n- add_model: {{name: p, file: '{file}'}}\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package `kit` with shapes and parts, as the working folder."""
    folder = tmp_path / "kit"
    (folder / "Meshes").mkdir(parents=True)
    files = {"Meshes/cube.obj": MESH, "Meshes/two words.obj": MESH, "Meshes/50%25.obj": MESH}
    files |= {"package.xml": "<package><name>kit</name></package>"}
    for suffix, content in (("xml", PART), ("sdf", MODEL)):
        files |= {f"Meshes/part.{suffix}": content, f"Meshes/two words.{suffix}": content}
    for name, content in files.items():
        (folder / name).write_text(content)
    monkeypatch.chdir(folder)
    return folder


def checked(name, text, *options):
    with open(name, "w") as file:
        file.write(text)
    return cli("-v", "check", name, *options)


@pytest.mark.parametrize("model", MESHES)
@pytest.mark.parametrize(
    ("uri", "path"),
    [
        (r"Meshes\cube.obj", "cube.obj"),
        ("Meshes/two%20words.obj", "two words.obj"),
        (r"Meshes\two%20words.obj", "two words.obj"),
        (r"package://kit\Meshes\cube.obj", "cube.obj"),
        (r"package://kit/Meshes\two%20words.obj", "two words.obj"),
        ("package://kit/Meshes/50%25.obj", "50%25.obj"),
        (r"elsewhere\Meshes\..\..\Meshes\cube.obj", "cube.obj"),
    ],
)
def test_names_of_other_systems_lead_to_the_file_that_is_there(folder, model, uri, path):
    result = checked(model, MESHES[model](uri), "--meshes")
    assert result.code == 0, result
    assert f'"{uri}" is {folder}/Meshes/{path} [URI_LOOKUP]' in result.out and ": note: " in result.out


@pytest.mark.parametrize("model", MESHES)
@pytest.mark.parametrize("uri", ["Meshes/two words.obj", "package://kit/Meshes/two%20words.obj", r"odd\name.obj"])
def test_the_name_as_it_is_written_comes_first(folder, model, uri):
    (folder / r"odd\name.obj").write_text(MESH)
    (folder / "odd").mkdir()
    (folder / "odd/name.obj").write_text("")
    result = checked(model, MESHES[model](uri), "--meshes")
    assert result.code == 0 and "URI_LOOKUP" not in result.out and "MESH_UNREADABLE" not in result.out


@pytest.mark.parametrize("model", MESHES)
def test_no_spelling_leads_out_of_the_folder(folder, model):
    (folder.parent / "secret.obj").write_text(MESH)
    for uri in (r"..\secret.obj", "%2E%2E/secret.obj", r"..%5Csecret.obj"):
        result = checked(model, MESHES[model](uri), "--meshes")
        assert f'"{uri}"' in result.out and "warning" in result.out and f"{uri} is " not in result.out


@pytest.mark.parametrize("model", MESHES)
def test_a_name_that_leads_nowhere_says_what_was_tried(folder, model):
    result = checked(model, MESHES[model](r"Meshes\no%20cube.obj"))
    for other in ("Meshes/no%20cube.obj", r"Meshes\no cube.obj", "Meshes/no cube.obj"):
        assert f'; nor does "{other}" lead to a file' in result.out
    result = checked(model, MESHES[model](r"C:\Users\me\cube.obj"))
    assert "; it is a place on a computer with Windows [URI_LOOKUP]" in result.out


@pytest.mark.parametrize("model", MESHES)
@pytest.mark.parametrize("uri", ["meshes/cube.obj", "Meshes/Cube.OBJ", "package://kit/MESHES/CUBE.obj"])
def test_a_file_whose_letters_differ_in_case_is_named(folder, model, uri):
    result = checked(model, MESHES[model](uri))
    assert f"does not exist; {folder}/Meshes/cube.obj is there, whose letters differ in case [URI_LOOKUP]" in result.out


@pytest.mark.parametrize("model", MESHES)
@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("Meshes/cube.stl", "Meshes/cube.obj"),
        ("Meshes/cubes.obj", "Meshes/cube.obj"),
        ("package://kit/Meshes/visual/cube.obj", "Meshes/cube.obj"),
        ("models/cube.obj", "Meshes/cube.obj"),
    ],
)
def test_a_missing_mesh_says_which_file_is_there_instead(folder, model, uri, meant):
    result = checked(model, MESHES[model](uri))
    assert "does not exist" in result.out and f"hint: there is {folder}/{meant}" in result.out
    assert "hint: there is" not in checked(model, MESHES[model]("Meshes/gripper_finger.stl")).out


def test_similar_files_are_not_looked_for_outside(folder):
    (folder.parent / "secret.stl").write_text(MESH)
    os.symlink(folder.parent / "secret.stl", folder / "Meshes/secret.stl")
    for uri in ("Meshes/secret.obj", "../secret.obj", "Meshes/secrets.stl"):
        assert "there is" not in checked("r.urdf", urdf(uri)).out


def test_letters_of_other_case_are_not_looked_for_outside(folder):
    (folder.parent / "Secret.obj").write_text(MESH)
    os.symlink(folder.parent / "Secret.obj", folder / "Secret.obj")
    assert of_other_case(str(folder.parent / "secret.obj"), str(folder)) is None
    assert "Secret" not in checked("r.urdf", urdf("secret.obj")).out
    assert "Secret" not in checked("r.urdf", urdf("../secret.obj")).out


@pytest.mark.parametrize("model", INCLUDES)
@pytest.mark.parametrize("file", [r"Meshes\part", r"Meshes\two%20words", "Meshes/two%20words"])
def test_files_that_a_file_includes_are_found_alike(folder, model, file):
    file += ".xml" if model.endswith(".xml") else ".sdf"
    result = checked(model, INCLUDES[model](file))
    assert result.code == 0, result
    path = f"{folder}/{file}".replace("\\", "/").replace("%20", " ")
    assert f'note: "{file}" leads to no file: {path} is taken [URI_LOOKUP]' in result.out


@pytest.mark.parametrize("model", INCLUDES)
def test_an_included_file_whose_letters_differ_in_case_is_named(folder, model):
    suffix = "xml" if model.endswith(".xml") else "sdf"
    result = checked(model, INCLUDES[model](f"Meshes/Part.{suffix}"))
    assert result.code == 1
    assert f"{folder}/Meshes/part.{suffix} is there, whose letters differ in case" in result.out


def test_folders_of_windows_in_mjcf(folder):
    """As MuJoCo: of strippath and of a mesh without a name, the part after the last of / and \\ counts."""
    text = (
        r'<mujoco><compiler meshdir="Meshes\" strippath="true"/><asset><mesh file="C:\me\cube.obj"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="cube"/></body></worldbody></mujoco>'
    )
    assert checked("r.xml", text, "--meshes").code == 0


@pytest.mark.parametrize("model", MESHES)
@pytest.mark.parametrize("suffix", ["stl", "obj", "dae", "glb", "vtk", "msh"])
def test_a_mesh_that_git_lfs_has_not_fetched_is_named_as_that(folder, model, suffix):
    (folder / f"Meshes/large.{suffix}").write_text(POINTER)
    result = checked(model, MESHES[model](f"Meshes/large.{suffix}"), "--meshes")
    assert f"Meshes/large.{suffix}" in result.out and f"cannot read the mesh: {ADVICE} [" in result.out


def test_a_buffer_that_git_lfs_has_not_fetched_is_named_as_that(folder):
    (folder / "Meshes/a.bin").write_text(POINTER)
    mesh = '{"asset": {"version": "2.0"}, "buffers": [{"uri": "a.bin", "byteLength": 36}], "scene": 0, "scenes": '
    mesh += '[{"nodes": [0]}], "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], '
    mesh += '"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}], '
    (folder / "Meshes/a.gltf").write_text(mesh + '"bufferViews": [{"buffer": 0, "byteLength": 36}]}')
    assert f"its buffer 'a.bin' cannot be read: {ADVICE}" in checked("r.urdf", urdf("Meshes/a.gltf"), "--meshes").out


@pytest.mark.parametrize("model", INCLUDES)
def test_an_included_file_that_git_lfs_has_not_fetched_is_named_as_that(folder, model):
    suffix = "xml" if model.endswith(".xml") else "sdf"
    (folder / f"large.{suffix}").write_text(POINTER)
    result = checked(model, INCLUDES[model](f"large.{suffix}"))
    assert result.code == 1 and f"large.{suffix}: error: cannot read the file: {ADVICE} [FILE_READ]" in result.out


@pytest.mark.parametrize("name", ["a.urdf", "a.sdf", "a.xml", "a.dmd.yaml", "robot"])
def test_a_model_file_that_git_lfs_has_not_fetched_is_named_as_that(folder, name):
    (folder / name).write_text(POINTER)
    assert ADVICE in cli("inspect", name).err


def test_spellings_are_few():
    assert list(spellings("a/b.obj")) == []
    assert list(spellings(r"a\b.obj")) == ["a/b.obj"]
    assert list(spellings("a%00b.obj")) == []
    assert list(spellings(r"package://p\a%20b.obj")) == [
        "package://p/a%20b.obj",
        r"package://p\a%2520b.obj",
        "package://p/a%2520b.obj",
    ]
