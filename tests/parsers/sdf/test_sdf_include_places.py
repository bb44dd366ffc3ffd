"""Where an <include> of SDFormat finds its model: Gazebo's folders, its cache of Fuel, or nowhere."""

import pytest
from mbcli.parsers.package_map import PackageMap
from test_sdf_nested import LINK, errors, include, including, read, read_one, sdf

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

VARIABLES = ["GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"]
FUEL = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Traffic%20Cone"


@pytest.fixture
def models(tmp_path):
    """A directory with models that may be included."""
    (tmp_path / "arm.sdf").write_text(sdf(f"<model name='arm'>{LINK}</model>"))
    (tmp_path / "broken.sdf").write_text(sdf("<model name='b'><link name='a'><pose>x</pose></link></model>"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "model.config").write_text("<model><sdf version='1.9'>new.sdf</sdf></model>")
    (tmp_path / "dir" / "new.sdf").write_text(sdf(f"<model name='new'>{LINK}</model>"))
    return tmp_path


def cached(models, version, server="fuel.gazebosim.org"):
    """Puts a version of a model into a cache of Gazebo; returns the variables that lead to it."""
    directory = models / "cache" / server / "openrobotics" / "models" / "traffic cone" / str(version)
    directory.mkdir(parents=True)
    (directory / "model.config").write_text("<model><sdf version='1.9'>model.sdf</sdf></model>")
    (directory / "model.sdf").write_text(sdf(f"<model name='cone_{version}'>{LINK}</model>"))
    return {"GZ_FUEL_CACHE_PATH": str(models / "cache")}


def included(models, uri, environment, **settings):
    spec = read_one(including(models, include(uri)), packages=PackageMap(environment=environment, **settings))
    return [inner.name for inner in spec.models]


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_bare_name_of_a_model_is_looked_for_where_gazebo_does(models, variable):
    (models / "world").mkdir()
    environment = {variable: f"{models / 'nowhere'}:{models}"}
    for uri in ("dir", "dir/new.sdf", "model://dir", "model://dir/new.sdf"):
        assert included(models / "world", uri, environment) == ["new"]
    packages = PackageMap(environment=environment)
    ((code, message),) = errors(including(models / "world", include("gone")), packages=packages)
    assert code == "URI_LOOKUP"
    assert f"no {models / 'gone'} ({variable})" in message


def test_a_name_does_not_lead_out_of_the_directories_of_gazebo(models):
    (models / "world").mkdir()
    environment = {"SDF_PATH": str(models / "world")}
    for uri in ("../arm.sdf", "world/../../arm.sdf"):
        ((code, _),) = errors(including(models / "world", include(uri)), packages=PackageMap(environment=environment))
        assert code == "URI_LOOKUP"


def test_models_of_fuel_are_read_from_the_cache_of_gazebo(models):
    environment = cached(models, 9)
    cached(models, 10)
    assert included(models, FUEL, environment) == ["cone_10"]
    assert included(models, FUEL + "/9", environment) == ["cone_9"]
    assert included(models, FUEL + "/tip", environment) == ["cone_10"]
    assert included(models, FUEL + "/9/files/model.sdf", environment) == ["cone_9"]
    old = FUEL.replace("gazebosim.org", "ignitionrobotics.org")
    assert included(models, old, {"IGN_FUEL_CACHE_PATH": environment["GZ_FUEL_CACHE_PATH"]}) == ["cone_10"]
    assert included(models, FUEL.replace("https", "http"), environment) == ["cone_10"]


def test_the_cache_of_fuel_is_in_the_home_directory_if_nothing_else_is_said(models):
    cached(models, 1)
    for name in (".ignition", ".gz"):
        (models / name).mkdir()
        (models / "cache").rename(models / name / "fuel")
        assert included(models, FUEL, {"HOME": str(models)}) == ["cone_1"]
        (models / name / "fuel").rename(models / "cache")


def test_a_model_of_fuel_that_gazebo_does_not_have_is_an_error_that_says_where(models):
    environment = cached(models, 1)
    for uri in (FUEL + "/2", FUEL.replace("Traffic", "Other"), FUEL + "/../../x"):
        ((code, message),) = errors(including(models, include(uri)), packages=PackageMap(environment=environment))
        assert code == "URI_LOOKUP"
        assert "nothing is fetched from the network" in message
    ((_, message),) = errors(including(models, include(FUEL + "/2")), packages=PackageMap(environment=environment))
    assert f"not below {models / 'cache' / 'fuel.gazebosim.org'}" in message


def test_missing_includes_may_be_skipped_and_faults_of_those_that_are_there_not(models):
    body = f"<world name='w'>{include('gone')}{include(FUEL)}{include('arm.sdf')}</world>"
    (models / "world.sdf").write_text(sdf(body))
    specs, diagnostics = read(models / "world.sdf", packages=PackageMap(environment={}, missing_includes="skip"))
    assert [inner.name for inner in specs[0].models] == ["arm"]
    left_out = [(f.severity, f.code, f.message) for f in diagnostics.findings]
    assert [(severity, code) for severity, code, _ in left_out] == [("warning", "URI_LOOKUP")] * 2
    assert all(message.startswith("the included model is left out: ") for *_, message in left_out)

    packages = PackageMap(environment={}, missing_includes="skip")
    for uri, code in (("broken.sdf", "ELEMENT_INVALID"), ("../arm.sdf", "URI_LOOKUP"), ("empty", "URI_LOOKUP")):
        assert errors(including(models, include(uri)), packages=packages)[0][0] == code


def test_a_model_of_nothing_but_skipped_includes_is_empty(models):
    packages = PackageMap(environment={}, missing_includes="skip")
    (models / "w.sdf").write_text(sdf(f"<world name='w'><model name='m'>{include('gone')}</model></world>"))
    (spec,), diagnostics = read(models / "w.sdf", packages=packages)
    assert [(inner.name, inner.links) for inner in spec.models] == [("m", ())]
    assert [f.severity for f in diagnostics.findings] == ["warning"]
    plant = MultibodyPlant(0.0)
    Parser(plant, packages=packages).AddModels(str(models / "w.sdf"))
    plant.Finalize()
    assert plant.num_bodies() == 1
    (models / "w.sdf").write_text(sdf("<world name='w'><model name='m'/></world>"))
    assert errors(models / "w.sdf", packages=packages)[0][0] == "MODEL_WITHOUT_LINK"


def test_an_include_of_the_sun_is_a_note(models):
    (models / "sun.sdf").write_text(sdf("<light name='sun' type='directional'/>"))
    specs, diagnostics = read(including(models, include("sun.sdf") + include("arm.sdf")))
    assert [inner.name for inner in specs[0].models] == ["arm"]
    assert [(f.severity, f.code) for f in diagnostics.findings] == [("note", "ELEMENT_FOREIGN")]
