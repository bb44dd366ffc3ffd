"""Configuration records and files: defaults, checks on assignment, the three file forms, overrides,
schemas."""

import copy
import dataclasses
import inspect
import json
import math

import jsonschema
import numpy as np
import pytest
import yaml
from mbcli.parsers.diagnostics import DiagnosticError, Diagnostics
from mbcli.parsers.scenes.file_schemas import schema_text
from mbcli.parsers.scenes.plant_config import HoldConfig, RunConfig, apply_overrides, setting_paths
from mbcli.parsers.scenes.scenario import UNSUPPORTED_KEYS, read_run_config

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.config.scene_graph_config import DefaultProximityProperties
from mbcli.config.simulator_config import INTEGRATION_SCHEMES, SimulatorConfig
from mbcli.errors import ArgumentError

# that pydrake has not
MBCLIS_OWN = ("ball_joints", "contact_defaults", "continuous_joint_limits", "joint_dry_friction")
MBCLIS_OWN += ("sleep_tolerance", "step_scheme")


def read(text, scenario_name=None):
    diagnostics = Diagnostics()
    config = read_run_config(text.encode(), diagnostics, scenario_name, name="c.yaml")
    return config, diagnostics


def accepted(text, scenario_name=None):
    config, diagnostics = read(text, scenario_name)
    assert diagnostics.findings == []
    return config


def only_error(text, scenario_name=None):
    config, diagnostics = read(text, scenario_name)
    (finding,) = diagnostics.findings
    assert config is None
    assert finding.severity == "error"
    return finding


# ---------------------------------------------------------------------------------------------- the records


def test_plant_defaults_are_those_of_the_reference():
    assert dataclasses.asdict(MultibodyPlantConfig()) == {
        "time_step": 0.001,
        "use_sampled_output_ports": True,
        "penetration_allowance": None,  # that of the kind of plant, as of the next
        "stiction_tolerance": None,
        "contact_model": "hydroelastic_with_fallback",
        "discrete_contact_approximation": "lagged",
        "sap_near_rigid_threshold": None,
        "contact_surface_representation": "polygon",
        "adjacent_bodies_collision_filters": True,
        "contact_defaults": "allowance",
        "sleep_tolerance": 0.0,
        "joint_dry_friction": True,
        "step_scheme": "midpoint",
        "ball_joints": "quaternion",
        "continuous_joint_limits": False,
    }


def test_simulator_defaults_are_those_of_the_reference():
    assert dataclasses.asdict(SimulatorConfig()) == {
        "integration_scheme": "runge_kutta3",
        "max_step_size": 0.1,
        "accuracy": 1e-4,
        "use_error_control": True,
        "start_time": 0.0,
        "target_realtime_rate": 0.0,
        "publish_every_time_step": False,
    }


def test_a_record_is_built_by_keyword_compared_copied_and_changed():
    config = MultibodyPlantConfig(time_step=0, contact_model="point")
    assert config.time_step == 0.0
    assert type(config.time_step) is float
    assert config == MultibodyPlantConfig(time_step=0.0, contact_model="point")
    other = copy.deepcopy(config)
    other.time_step = 0.01
    assert other != config
    assert config.time_step == 0.0
    assert eval(repr(other)) == other
    with pytest.raises(TypeError):
        MultibodyPlantConfig(0.001)


def test_numpy_scalars_are_taken_as_python_numbers():
    config = MultibodyPlantConfig(time_step=np.float64(0.5), use_sampled_output_ports=np.bool_(False))
    assert type(config.time_step) is float
    assert config.use_sampled_output_ports is False
    config.time_step = np.int64(1)
    assert config.time_step == 1.0


@pytest.mark.parametrize(
    ("record", "name", "value", "message"),
    [
        (MultibodyPlantConfig, "time_step", -0.5, "must be at least 0 s; found -0.5"),
        (MultibodyPlantConfig, "time_step", math.nan, "must be a finite number; found nan"),
        (MultibodyPlantConfig, "time_step", math.inf, "must be a finite number; found inf"),
        (MultibodyPlantConfig, "time_step", "0.1", "must be a number; found the string '0.1'"),
        (MultibodyPlantConfig, "time_step", True, "must be a number; found true"),
        (MultibodyPlantConfig, "time_step", None, "must be a number; found nothing"),
        (MultibodyPlantConfig, "time_step", np.array([0.1]), "must be a number; found array"),
        (MultibodyPlantConfig, "penetration_allowance", 0, "must be greater than 0 m; found 0.0"),
        (MultibodyPlantConfig, "stiction_tolerance", 0, "must be greater than 0 m/s; found 0.0"),
        (MultibodyPlantConfig, "sap_near_rigid_threshold", -1, "must be at least 0; found -1.0"),
        (MultibodyPlantConfig, "use_sampled_output_ports", 1, "must be true or false; found 1"),
        (MultibodyPlantConfig, "contact_model", "pont", "must be one of point, hydroelastic"),
        (MultibodyPlantConfig, "discrete_contact_approximation", "", "must be one of tamsi, sap"),
        (
            MultibodyPlantConfig,
            "contact_surface_representation",
            "hexagon",
            "must be one of triangle, polygon",
        ),
        (SimulatorConfig, "integration_scheme", "rk4", "must be one of bogacki_shampine3"),
        (SimulatorConfig, "max_step_size", 0, "must be greater than 0 s; found 0.0"),
        (SimulatorConfig, "accuracy", 0, "must be greater than 0; found 0.0"),
        (SimulatorConfig, "target_realtime_rate", -1, "must be at least 0; found -1.0"),
        (RunConfig, "random_seed", -1, "must be at least 0; found -1"),
        (RunConfig, "random_seed", 1.0, "must be an integer; found 1.0"),
        (RunConfig, "simulation_duration", -1, "must be at least 0 s; found -1.0"),
        (RunConfig, "simulation_duration", math.nan, "must be a finite number; found nan"),
        (RunConfig, "plant_config", 3, "must be a MultibodyPlantConfig; found 3"),
    ],
)
def test_a_wrong_value_is_refused_in_the_constructor_and_by_assignment(record, name, value, message):
    config = record()
    before = copy.deepcopy(config)
    for attempt in (lambda: record(**{name: value}), lambda: setattr(config, name, value)):
        with pytest.raises(RuntimeError) as caught:
            attempt()
        assert str(caught.value).startswith(f"{record.__name__}.{name} {message}")
        assert caught.value.exit_code == 3
    assert config == before


def test_an_unknown_attribute_is_refused_with_a_suggestion():
    with pytest.raises(AttributeError, match="no field 'time_stp': did you mean \"time_step\""):
        MultibodyPlantConfig().time_stp = 0.1
    with pytest.raises(TypeError, match="time_stp"):
        MultibodyPlantConfig(time_stp=0.1)


# ------------------------------------------------------------------------------------------- the file forms


def test_a_bare_plant_configuration():
    config = accepted("time_step: 2e-3\ncontact_model: point\n")
    assert config == RunConfig(plant_config=MultibodyPlantConfig(time_step=0.002, contact_model="point"))
    assert config.simulation_duration == math.inf


def test_a_scenario():
    config = accepted(
        """
        random_seed: 7
        simulation_duration: 5
        plant_config: {time_step: 0}
        simulator_config: {integration_scheme: implicit_euler, accuracy: 1e-6}
        """
    )
    assert config == RunConfig(
        random_seed=7,
        simulation_duration=5.0,
        plant_config=MultibodyPlantConfig(time_step=0),
        simulator_config=SimulatorConfig(integration_scheme="implicit_euler", accuracy=1e-6),
    )


def test_an_empty_mapping_is_all_defaults():
    assert accepted("{}") == RunConfig()


def test_a_scenario_that_lasts_for_ever():
    assert accepted("simulation_duration: .inf").simulation_duration == math.inf


def test_one_named_scenario_needs_no_name():
    assert accepted("Demo:\n  random_seed: 3\n") == RunConfig(random_seed=3)
    assert accepted("Demo:\n  random_seed: 3\n", "Demo") == RunConfig(random_seed=3)


NAMED = """
Fast: {plant_config: {time_step: 0.01}}
Precise: &precise {plant_config: {time_step: 0}, simulation_duration: 2}
Long: {<<: *precise, simulation_duration: 20}
"""


def test_a_scenario_is_chosen_by_name():
    assert accepted(NAMED, "Fast").plant_config.time_step == 0.01
    assert accepted(NAMED, "Precise").simulation_duration == 2
    chosen = accepted(NAMED, "Long")
    assert (chosen.plant_config.time_step, chosen.simulation_duration) == (0, 20)


def test_several_scenarios_without_a_choice_are_listed():
    finding = only_error(NAMED)
    assert finding.code == "SCENARIO_AMBIGUOUS"
    assert "Fast, Precise, Long" in finding.message


def test_a_missing_scenario_suggests_the_likely_one():
    assert only_error(NAMED, "Presice").hint == 'did you mean "Precise"?'
    assert only_error("time_step: 0.1", "Demo").hint == "the file has no named scenarios"


def test_a_scenario_for_drake_is_read_and_what_is_not_used_is_named():
    config, diagnostics = read(
        """
        Demo:
          directives:
          - add_model:
              name: amazon_table
              file: package://drake_models/table.sdf
              default_free_body_pose: {base: {rotation: !Rpy {deg: [0, 0, 90]}}}
          plant_config: {time_step: 0.005}
          lcm_buses: {driver_traffic: {lcm_url: "udpm://239.241.129.92:20185?ttl=0"}}
          model_drivers: {iiwa: !IiwaDriver {hand_model_name: wsg}}
          cameras: {}
          initial_position: {iiwa: {joint_1: [0.1]}}
          scene_graph_config: {default_proximity_properties: {point_stiffness: 1e6}}
          visualization: {publish_period: 0.125}
        """
    )
    expected = RunConfig(plant_config=MultibodyPlantConfig(time_step=0.005))
    expected.scene_graph_config.default_proximity_properties.point_stiffness = 1e6
    assert config == expected
    assert {finding.severity for finding in diagnostics.findings} == {"warning"}
    named = {finding.attribute: finding.place.line for finding in diagnostics.findings}
    assert named == {
        "lcm_buses": 9,
        "model_drivers": 10,
        "cameras": 11,
        "visualization": 14,
    }
    assert set(named) == set(UNSUPPORTED_KEYS)


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("time_stp: 0.1", "KEY_UNKNOWN", "c.yaml:1:1", 'did you mean "time_step"?'),
        ("time_step: 0.1\nstiction: 1", "KEY_UNKNOWN", "c.yaml:2:1", 'did you mean "stiction_tolerance"?'),
        ("plant_confg: {time_step: 0.1}", "KEY_UNKNOWN", "c.yaml:1:1", 'did you mean "plant_config"?'),
        ("plant_config: {time_stp: 1}", "KEY_UNKNOWN", "c.yaml:1:16", 'did you mean "time_step"?'),
        ("random_seed: 1\ncamera: {}", "KEY_UNKNOWN", "c.yaml:2:1", 'did you mean "cameras"?'),
        ("Demo: {random_sed: 1}", "KEY_UNKNOWN", "c.yaml:1:8", 'did you mean "random_seed"?'),
        ("time_step: -1", "VALUE_RANGE", "c.yaml:1:12", None),
        ("time_step: 1ms", "VALUE_TYPE", "c.yaml:1:12", None),
        ("simulator_config: {integration_scheme: runge_kutta4}", "VALUE_CHOICE", "c.yaml:1:40", None),
        ("plant_config: 3", "VALUE_TYPE", "c.yaml:1:15", None),
        ("simulation_duration: .nan", "VALUE_RANGE", "c.yaml:1:22", None),
        ("random_seed: 1.5", "VALUE_TYPE", "c.yaml:1:14", None),
        ("random_seed: !Uniform [0, 1]", "YAML_TAG", "c.yaml:1:14", None),
        ("[1, 2]", "VALUE_TYPE", "c.yaml:1:1", None),
        ("just text", "VALUE_TYPE", "c.yaml:1:1", None),
        ("", "VALUE_TYPE", "c.yaml", None),
        ("time_step: 1\ntime_step: 2", "DUPLICATE_KEY", "c.yaml:2:1", None),
    ],
)
def test_a_fault_is_one_error_at_its_place(text, code, place, hint):
    _, diagnostics = read(text)
    (finding,) = diagnostics.findings
    assert (finding.code, str(finding.place)) == (code, place)
    if hint is not None:
        assert finding.hint == hint
    with pytest.raises(DiagnosticError) as caught:
        diagnostics.raise_if_errors()
    assert caught.value.exit_code == 3


# ---------------------------------------------------------------------------------------------- overrides


def test_overrides_change_a_copy():
    config = RunConfig()
    changed = apply_overrides(
        config,
        [
            "plant_config.time_step=2e-3",
            " plant_config.contact_model = point ",
            "simulator_config.use_error_control=false",
            "random_seed=5",
            "simulation_duration=.inf",
            "random_seed=6",
        ],
    )
    assert changed.plant_config == MultibodyPlantConfig(time_step=0.002, contact_model="point")
    assert changed.simulator_config.use_error_control is False
    assert changed.random_seed == 6
    assert config == RunConfig()


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (
            "plant_config.time_stp=1",
            'overrides plant_config.time_stp: no such setting: did you mean "plant_config.time_step"?',
        ),
        ("time_step=1", 'overrides time_step: no such setting: did you mean "plant_config.time_step"?'),
        ("plant_config=1", "overrides plant_config: no such setting: "),
        ("=1", "overrides : no such setting: "),
        ("plant_config.time_step", "overrides plant_config.time_step: must be PATH=VALUE"),
        (
            "plant_config.time_step=-1",
            "overrides plant_config.time_step: MultibodyPlantConfig.time_step must be at least 0 s; found -1.0",
        ),
        ("plant_config.time_step=1e999", "overrides plant_config.time_step: the number 1e999 is too large"),
        ("plant_config.time_step=", "overrides plant_config.time_step: "),
        ("simulator_config.accuracy=fine", "overrides simulator_config.accuracy: "),
        ("__class__=3", "overrides __class__: no such setting: "),
        ("plant_config.__dict__=3", "overrides plant_config.__dict__: no such setting: "),
    ],
)
def test_a_wrong_override_names_its_path(assignment, message):
    with pytest.raises(ArgumentError) as caught:
        apply_overrides(RunConfig(), ["random_seed=1", assignment])
    assert str(caught.value).startswith(message)


def test_every_setting_has_a_path_that_can_be_set():
    paths = setting_paths()
    records = (HoldConfig, MultibodyPlantConfig, SimulatorConfig, DefaultProximityProperties)
    assert len(paths) == 4 + sum(len(dataclasses.fields(record)) for record in records)
    defaults = RunConfig()
    for path in paths:
        value = defaults
        for part in path.split("."):
            value = getattr(value, part)
        text = value if isinstance(value, str) else json.dumps(value).replace("Infinity", ".inf")
        assert apply_overrides(defaults, [f"{path}={text}"]) == defaults


# ---------------------------------------------------------------------------------------------- schemas


def test_the_plant_schema_has_every_field_with_its_default():
    schema = json.loads(schema_text("plant_config"))
    defaults = {name: entry["default"] for name, entry in schema["properties"].items()}
    assert defaults == dataclasses.asdict(MultibodyPlantConfig())
    assert schema["properties"]["penetration_allowance"]["exclusiveMinimum"] == 0
    assert schema["properties"]["time_step"]["minimum"] == 0
    schemes = json.loads(schema_text("simulator_config"))["properties"]["integration_scheme"]["enum"]
    assert tuple(schemes) == INTEGRATION_SCHEMES


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("plant_config: {time_step: 0.01}", True),
        ("{simulation_duration: 3, simulator_config: {accuracy: 0.01}, cameras: {}}", True),
        ("simulation_duration: .inf", True),
        ("A: {random_seed: 3}\nB: {}", True),
        ("{}", True),
        ("plant_config: {time_stp: 0.01}", False),
        ("plant_config: {time_step: -1}", False),
        ("plant_config: {stiction_tolerance: 0}", False),
        ("plant_config: {contact_model: pint}", False),
        ("plant_config: {time_step: true}", False),
        ("simulator_config: {use_error_control: 1}", False),
        ("A: {random_sed: 3}", False),
        ("random_seed: 1.5", False),
    ],
)
def test_schema_and_reader_accept_the_same_files(text, valid):
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("config")))
    assert validator.is_valid(yaml.safe_load(text)) == valid
    _, diagnostics = read(text, "A" if text.startswith("A:") else None)
    assert (not diagnostics.errors) == valid


# ---------------------------------------------------------------------------------------------- peers


OF_THE_KIND_OF_PLANT = {  # None here, with the defaults of the setters of MultibodyPlant
    "penetration_allowance": 1e-3,
    "stiction_tolerance": 1e-4,
    "sap_near_rigid_threshold": 1.0,
}


@pytest.mark.peers("pydrake")
def test_fields_and_defaults_are_those_of_pydrake():
    from pydrake.multibody import plant
    from pydrake.systems import analysis

    for ours, theirs in (
        (MultibodyPlantConfig(), plant.MultibodyPlantConfig()),
        (SimulatorConfig(), analysis.SimulatorConfig()),
    ):
        fields = [field for field in dataclasses.fields(ours) if field.name not in MBCLIS_OWN]
        for field in fields:
            expected = getattr(theirs, field.name)
            if field.name in OF_THE_KIND_OF_PLANT:
                assert expected == OF_THE_KIND_OF_PLANT[field.name]  # stated where MultibodyPlantConfig is declared
            else:
                assert getattr(ours, field.name) == expected
        assert [field.name for field in theirs.__fields__] == [field.name for field in fields]
    assert list(INTEGRATION_SCHEMES) == analysis.GetIntegrationSchemes()


def test_every_field_says_what_it_is():
    for record in (MultibodyPlantConfig, SimulatorConfig):
        assert inspect.getdoc(record)
        for field in dataclasses.fields(record):
            assert field.metadata["doc"]
