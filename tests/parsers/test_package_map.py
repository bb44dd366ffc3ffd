"""Where URIs lead: the order of the sources, what is refused, and what a failure says."""

import contextlib
import os
from hashlib import sha256

import pytest
from mbcli.parsers.package_map import PackageMap

from mbcli.errors import ResourceError


def package(directory, name=None, file="mesh.obj"):
    """A package directory with a file in it, and its manifest if it has a stated name."""
    directory.mkdir(parents=True)
    (directory / file).write_text("")
    if name:
        (directory / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return directory


def test_a_package_given_by_name(tmp_path):
    packages = PackageMap(environment={})
    packages.add("arm", package(tmp_path / "anything"))
    assert packages.resolve("package://arm/mesh.obj") == str(tmp_path / "anything" / "mesh.obj")
    assert packages.resolve("model://arm/mesh.obj") == str(tmp_path / "anything" / "mesh.obj")


def test_a_name_is_given_once(tmp_path):
    packages = PackageMap(environment={})
    packages.add("arm", tmp_path)
    packages.add("arm", tmp_path)
    with pytest.raises(ResourceError, match='package "arm" is .* already, not'):
        packages.add("arm", package(tmp_path / "other"))
    packages.remove("arm")
    with pytest.raises(ResourceError, match='no package "arm"'):
        packages.resolve("package://arm/mesh.obj", tmp_path)
    with pytest.raises(ResourceError, match='package "arm" was not given'):
        packages.remove("arm")


def test_missing_directories_are_refused_at_once(tmp_path):
    with pytest.raises(ResourceError, match="nothing is not a directory"):
        PackageMap().add("arm", tmp_path / "nothing")
    with pytest.raises(ResourceError, match="nothing is not a directory"):
        PackageMap().add_path(tmp_path / "nothing")


def test_a_searched_path_goes_by_the_manifest_not_by_the_directory(tmp_path):
    package(tmp_path / "deep" / "dir_name", "stated")
    (tmp_path / "gz").mkdir()
    (tmp_path / "gz" / "model.config").write_text("<model><name>Other</name></model>")
    packages = PackageMap(environment={})
    packages.add_path(tmp_path)
    expected = str(tmp_path / "deep" / "dir_name" / "mesh.obj")
    assert packages.resolve("package://stated/mesh.obj", "/") == expected
    assert packages.resolve("model://gz/model.config", "/") == str(tmp_path / "gz" / "model.config")
    with pytest.raises(ResourceError, match=f"not below {tmp_path}"):
        packages.resolve("package://dir_name/mesh.obj", "/")


def test_the_search_skips_ignored_and_hidden_directories_and_packages_in_packages(tmp_path):
    package(tmp_path / "a" / "ignored", "ignored")
    (tmp_path / "a" / "COLCON_IGNORE").write_text("")
    package(tmp_path / ".git" / "hidden", "hidden")
    package(tmp_path / "outer", "outer")
    package(tmp_path / "outer" / "inner", "inner")
    packages = PackageMap(environment={})
    packages.add_path(tmp_path)
    assert packages.package_directory("outer", "/") == str(tmp_path / "outer")
    for name in ("ignored", "hidden", "inner"):
        with pytest.raises(ResourceError):
            packages.package_directory(name, "/")


def test_the_search_ends_in_circles_of_links_and_broken_manifests(tmp_path):
    package(tmp_path / "arm", "arm")
    (tmp_path / "loop").mkdir()
    os.symlink(tmp_path, tmp_path / "loop" / "back")
    package(tmp_path / "broken")
    (tmp_path / "broken" / "package.xml").write_text("<package><name>brok")
    packages = PackageMap(environment={})
    packages.add_path(tmp_path)
    assert packages.package_directory("arm", "/") == str(tmp_path / "arm")


def test_two_packages_of_one_name_are_kept_for_a_warning(tmp_path):
    package(tmp_path / "b", "arm")
    package(tmp_path / "a", "arm")
    packages = PackageMap(environment={})
    packages.add_path(tmp_path)
    assert packages.package_directory("arm", "/") == str(tmp_path / "a")
    assert packages.ambiguous == {"arm": (str(tmp_path / "a"), str(tmp_path / "b"))}


def test_nothing_is_searched_before_it_is_needed(tmp_path, monkeypatch):
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": str(tmp_path)})
    packages.add_path(tmp_path)
    packages.add("arm", package(tmp_path / "x", "arm"))
    monkeypatch.setattr(os, "scandir", None)
    assert packages.resolve("package://arm/mesh.obj") == str(tmp_path / "x" / "mesh.obj")
    assert packages.resolve("mesh.obj", tmp_path / "x") == str(tmp_path / "x" / "mesh.obj")


@pytest.mark.parametrize("manifest", ["package.xml", "directory"])
def test_the_package_around_the_model_file(tmp_path, manifest):
    root = package(tmp_path / "arm", "arm" if manifest == "package.xml" else None)
    if manifest == "package.xml":
        root = root.rename(tmp_path / "another_name")
    (root / "urdf").mkdir()
    assert PackageMap(environment={}).resolve("package://arm/mesh.obj", root / "urdf") == str(root / "mesh.obj")


def test_the_order_of_the_sources(tmp_path):
    environment = {}
    sources = []
    for variable, inner in (
        ("SDF_PATH", "arm"),
        ("GAZEBO_MODEL_PATH", "arm"),
        ("IGN_GAZEBO_RESOURCE_PATH", "arm"),
        ("GZ_SIM_RESOURCE_PATH", "arm"),
        ("AMENT_PREFIX_PATH", "share/arm"),
        ("ROS_PACKAGE_PATH", "src/arm_x"),
        ("MBCLI_PACKAGE_PATH", "src/arm_y"),
    ):
        directory = package(tmp_path / variable / inner, "arm")
        environment[variable] = f"/nowhere{os.pathsep}{tmp_path / variable}"
        sources.append(directory)
        found = PackageMap(environment=dict(environment)).package_directory("arm", "/")
        assert found == str(directory), variable
    enclosing = package(tmp_path / "own", "arm")
    assert PackageMap(environment=environment).package_directory("arm", enclosing) == str(enclosing)
    packages = PackageMap(environment=environment)
    searched = package(tmp_path / "searched", "arm")
    packages.add_path(searched)
    assert packages.package_directory("arm", enclosing) == str(searched)
    given = package(tmp_path / "given")
    packages.add("arm", given)
    assert packages.package_directory("arm", enclosing) == str(given)


def test_a_failure_says_everything_that_was_tried(tmp_path):
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": "/opt/none"})
    packages.add_path(tmp_path)
    with pytest.raises(ResourceError) as error:
        packages.resolve("package://arm/mesh.obj", tmp_path)
    text = str(error.value)
    assert text.startswith('"package://arm/mesh.obj": no package "arm": not given by name; not below ')
    for part in (f"not around {tmp_path}", "not below /opt/none (ROS_PACKAGE_PATH)", "not set: MBCLI_PACKAGE_PATH, "):
        assert part in text
    assert "\n" not in text


def test_an_installed_python_package_is_the_last_that_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site")
    for name in ("walkers/__init__.py", "walkers/xmls/dog.xml", "plain/xmls/dog.xml"):
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).write_text("raise ValueError  # if it is imported")
    dog = str(tmp_path / "site" / "walkers" / "xmls" / "dog.xml")
    assert PackageMap(environment={}).resolve("package://walkers/xmls/dog.xml", tmp_path) == dog
    with pytest.raises(ResourceError, match="no Python package has this name"):  # a folder without __init__.py is none
        PackageMap(environment={}).resolve("package://plain/xmls/dog.xml", tmp_path)
    (tmp_path / "site" / "drake").mkdir()
    (tmp_path / "site" / "drake" / "__init__.py").write_text("")  # the wheel of pydrake has one, of messages
    with contextlib.suppress(ResourceError):  # where no pydrake is installed
        assert not str(PackageMap(environment={}).package_directory("drake", tmp_path)).startswith(str(tmp_path))
    (tmp_path / "ros" / "walkers").mkdir(parents=True)
    (tmp_path / "ros" / "walkers" / "package.xml").write_text("<package><name>walkers</name></package>")
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": str(tmp_path / "ros")})
    assert packages.package_directory("walkers", tmp_path) == str(tmp_path / "ros" / "walkers")
    assert not packages.ambiguous


def test_a_package_after_three_slashes_is_one(tmp_path):
    root = package(tmp_path / "arm", "arm", "a.obj")
    assert PackageMap(environment={}).resolve("package:///arm/a.obj", root) == str(root / "a.obj")


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("package://meshes/a.stl", "robot/urdf/meshes/a.stl"),
        ("package://meshes/a.stl", "robot/meshes/a.stl"),
        ("package://a.stl", "robot/urdf/a.stl"),
        ("package://old_name/meshes/a.stl", "robot/meshes/a.stl"),
        ("meshes/a.stl", "robot/meshes/a.stl"),
    ],
)
def test_a_file_that_a_name_does_not_lead_to_is_found_nearby(tmp_path, uri, place):
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / "robot" / "urdf").mkdir(exist_ok=True)
    (tmp_path / place).write_text("")
    packages = PackageMap(environment={})
    with pytest.raises(ResourceError):
        packages.resolve(uri, tmp_path / "robot" / "urdf")
    assert packages.find_nearby(uri, tmp_path / "robot" / "urdf") == str(tmp_path / place)


@pytest.mark.parametrize(
    "uri", ["/a.stl", "file:///a.stl", "http://x/a.stl", "package://arm/no.stl", "../a.stl", "a\0"]
)
def test_nothing_is_nearby_that_must_not_be_read(tmp_path, uri):
    (tmp_path / "robot" / "urdf").mkdir(parents=True)
    (tmp_path / "a.stl").write_text("")
    assert PackageMap(environment={}).find_nearby(uri, tmp_path / "robot" / "urdf") is None


def test_a_folder_named_after_a_format_belongs_to_the_one_around_it(tmp_path):
    for name in ("urdf", "arm"):
        (tmp_path / "robot" / name).mkdir(parents=True)
    (tmp_path / "robot" / "x.obj").write_text("")
    packages = PackageMap(environment={})
    assert packages.resolve("../x.obj", tmp_path / "robot" / "urdf") == str(tmp_path / "robot" / "x.obj")
    with pytest.raises(ResourceError, match="is outside of"):
        packages.resolve("../x.obj", tmp_path / "robot" / "arm")


def test_the_checkout_of_a_repository_is_one_package(tmp_path, monkeypatch):
    base = tmp_path / "repository" / "robots" / "arm"
    base.mkdir(parents=True)
    (tmp_path / "repository" / "x.obj").write_text("")
    (tmp_path / "repository" / ".git").mkdir()
    assert PackageMap(environment={}).resolve("../../x.obj", base) == str(tmp_path / "repository" / "x.obj")
    monkeypatch.setenv("HOME", str(tmp_path / "repository"))
    with pytest.raises(ResourceError, match="is outside of"):
        PackageMap(environment={}).resolve("../../x.obj", base)


def test_plain_paths_and_file_uris_start_at_the_file_that_names_them(tmp_path):
    root = package(tmp_path / "arm", "arm", "a b.obj")
    (root / "urdf").mkdir()
    packages = PackageMap(environment={})
    expected = str(root / "a b.obj")
    assert packages.resolve("../a b.obj", root / "urdf") == expected
    assert packages.resolve(f"file://{root}/a%20b.obj", root) == expected
    assert packages.resolve(expected, root) == expected
    with pytest.raises(ResourceError, match="does not exist"):
        packages.resolve("a b.obj", root / "urdf")


@pytest.mark.parametrize(
    "uri",
    [
        "package://arm/../secret.obj",
        "package://arm/%2e%2e/secret.obj",
        "../secret.obj",
        "package://arm/link.obj",
        "package://arm//../arm/../secret.obj",
        "../nothing.obj",
    ],
)
def test_files_outside_of_the_package_are_refused(tmp_path, uri):
    root = package(tmp_path / "arm", "arm")
    (tmp_path / "secret.obj").write_text("")
    os.symlink(tmp_path / "secret.obj", root / "link.obj")
    with pytest.raises(ResourceError, match="is outside of .*, (which is not allowed|as a link to)"):
        PackageMap(environment={}).resolve(uri, root)


def test_files_outside_of_the_package_may_be_allowed(tmp_path):
    root = package(tmp_path / "arm", "arm")
    (tmp_path / "other.obj").write_text("")
    packages = PackageMap(environment={}, allow_outside=True)
    assert packages.resolve("../other.obj", root) == str(tmp_path / "other.obj")
    assert packages.resolve("package://arm/../other.obj", root) == str(tmp_path / "other.obj")
    with pytest.raises(ResourceError, match="is not a regular file"):
        packages.resolve("/dev/null", root)


def test_plain_paths_stay_in_the_outermost_python_package_or_in_an_installed_folder(tmp_path):
    (tmp_path / "robots" / "arms" / "data" / "a").mkdir(parents=True)
    (tmp_path / "robots" / "meshes").mkdir()
    base = tmp_path / "robots" / "arms" / "data" / "a"
    (tmp_path / "robots" / "meshes" / "x.obj").write_text("")
    (tmp_path / "y.obj").write_text("")

    def resolves(uri):
        try:
            return PackageMap(environment={}).resolve(uri, base)
        except ResourceError as error:
            assert "is outside of" in str(error)

    mesh, other = "../../../meshes/x.obj", "../../../../y.obj"
    assert (resolves(mesh), resolves(other)) == (None, None)
    (tmp_path / "robots" / "arms" / "__init__.py").write_text("")
    assert resolves(mesh) is None
    (tmp_path / "robots" / "__init__.py").write_text("")
    assert (resolves(mesh), resolves(other)) == (str(tmp_path / "robots" / "meshes" / "x.obj"), None)
    for package in ("robots", "robots/arms"):
        (tmp_path / package / "__init__.py").unlink()
    (tmp_path / "robots-1.0.dist-info").mkdir()
    assert (resolves(mesh), resolves(other)) == (str(tmp_path / "robots" / "meshes" / "x.obj"), None)


def test_absolute_paths_out_of_the_model_directory_are_refused(tmp_path):
    for uri in ("/etc/passwd", "file:///etc/passwd"):
        with pytest.raises(ResourceError, match="is outside of"):
            PackageMap(environment={}).resolve(uri, tmp_path)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("http://example.com/a.obj", "nothing is fetched from the network"),
        ("https://example.com/a.obj", "nothing is fetched from the network"),
        ("ftp://example.com/a.obj", 'unknown scheme "ftp"'),
        ("package://", "does not name a package"),
        ("package://../a.obj", "does not name a package"),
        ("package://a\0b/c", "null character"),
        ("package://a/%00", "null character"),
    ],
)
def test_uris_that_are_refused(tmp_path, uri, message):
    with pytest.raises(ResourceError, match=message):
        PackageMap(environment={}).resolve(uri, tmp_path)


def test_two_sources_with_one_package_are_kept_for_a_warning_and_the_first_is_used(tmp_path):
    first, second = package(tmp_path / "a" / "arm", "arm"), package(tmp_path / "b" / "arm", "arm", "other.obj")
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": str(tmp_path / "b"), "SDF_PATH": str(tmp_path / "a")})
    packages.add_path(tmp_path / "a")
    assert packages.resolve("package://arm/mesh.obj", "/") == str(first / "mesh.obj")
    assert packages.ambiguous == {"arm": (str(first), str(second))}, "a directory that two sources name counts once"
    assert packages.ambiguity("package://arm/x") == (
        f'package "arm" has several directories, the first is used: {first}, {second}'
    )
    assert packages.ambiguity("mesh.obj") is None
    with pytest.raises(ResourceError, match=f"does not exist; there is {second / 'other.obj'}"):
        packages.resolve("package://arm/other.obj", "/")


def test_a_package_given_by_name_is_not_searched_for_elsewhere(tmp_path):
    package(tmp_path / "b" / "arm", "arm")
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": str(tmp_path / "b")})
    packages.add("arm", package(tmp_path / "a"))
    assert packages.package_directory("arm", "/") == str(tmp_path / "a")
    assert packages.ambiguous == {}


def test_a_source_too_large_to_search_matters_only_where_nothing_was_found(tmp_path, monkeypatch):
    package(tmp_path / "a" / "arm", "arm")
    for k in range(5):
        (tmp_path / "large" / str(k)).mkdir(parents=True)
    monkeypatch.setattr("mbcli.parsers.package_map.MAX_SEARCHED_DIRECTORIES", 3)
    packages = PackageMap(environment={"ROS_PACKAGE_PATH": str(tmp_path / "large")})
    packages.add_path(tmp_path / "a")
    assert packages.package_directory("arm", "/") == str(tmp_path / "a" / "arm")
    with pytest.raises(ResourceError, match="more than 3 directories to search"):
        packages.package_directory("leg", "/")


def test_the_same_failure_is_said_the_same_way_twice(tmp_path):
    packages = PackageMap(environment={"GAZEBO_MODEL_PATH": "/x:/y", "AMENT_PREFIX_PATH": "/opt/a"})
    texts = []
    for _ in range(2):
        with pytest.raises(ResourceError) as error:
            packages.resolve("model://arm/mesh.obj", tmp_path)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    assert "no /opt/a/share/arm (AMENT_PREFIX_PATH); no /x/arm (GAZEBO_MODEL_PATH); no /y/arm" in texts[0]


def test_a_package_xml_gives_its_package(tmp_path):
    from mbcli.multibody.parsing import PackageMap as PublicMap

    packages = PublicMap(environment={})
    packages.AddPackageXml(package(tmp_path / "anything", "arm") / "package.xml")
    assert packages.GetPath("arm") == str(tmp_path / "anything")
    with pytest.raises(ResourceError, match="no package.xml that states a name"):
        packages.AddPackageXml(package(tmp_path / "other") / "package.xml")


def test_a_package_that_lies_elsewhere_is_found_in_drakes_cache_or_refused_at_its_first_use(tmp_path, monkeypatch):
    from mbcli.multibody.parsing import PackageMap as OfParsers

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packages = OfParsers(environment={})
    packages.AddRemote("far", OfParsers.RemoteParams(urls=["https://example.org/far.tar.gz"], sha256="ab" * 32))
    with pytest.raises(ResourceError, match="nothing is fetched from the network, and .*abab-.* is not there"):
        packages.ResolveUrl("package://far/a.urdf")
    folder = tmp_path / "drake" / "package_map" / f"{'ab' * 32}-{sha256(b'').hexdigest()}"
    folder.mkdir(parents=True)
    (folder / "a.urdf").write_text("<robot/>")
    again = OfParsers(environment={})
    again.AddMap(packages)
    assert again.ResolveUrl("package://far/a.urdf") == str(folder / "a.urdf")
    with pytest.raises(ResourceError, match="another one already"):
        again.AddRemote("far", OfParsers.RemoteParams(urls=["https://example.org/other.zip"], sha256="cd" * 32))


def test_the_models_that_drake_has_fetched_are_found_by_their_name(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("DRAKE_RESOURCE_ROOT", raising=False)
    folder = package(tmp_path / "drake" / "package_map" / "0a-0b", "drake_models")
    (folder / "a.urdf").write_text("<robot/>")
    package(tmp_path / "drake" / "package_map" / "0c-0d", "other")
    assert PackageMap(environment={}).resolve("package://drake_models/a.urdf") == str(folder / "a.urdf")
    with pytest.raises(ResourceError):
        PackageMap(environment={}).resolve("package://other/a.urdf")
