"""The models of directives and scenarios, for the checks: every file read, every name looked up."""

from mbcli.checks.scene_contact import check_contact_model
from mbcli.multibody.parsing.process_directives import plan_directives
from mbcli.multibody.plant import MultibodyPlant
from mbcli.parsers.file_format import find_model_file
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.scenes.directives import read_directives
from mbcli.parsers.scenes.scenario import read_all_scenarios


def read_scene(source, input_format, packages, diagnostics, name):
    """(models, files of directives and scenarios) of a scene; its faults are in `diagnostics`.

    Raises ResourceError if the file is missing.
    """
    packages = packages or PackageMap()
    if not isinstance(source, bytes):
        source = find_model_file(source, packages)
    files = []
    if input_format == "dmd" or (input_format is None and source.lower().endswith(".dmd.yaml")):
        scenes = [(None, read_directives(source, diagnostics, name=name, sources=files))]
    else:
        scenarios = read_all_scenarios(source, diagnostics, name=name)
        scenes = [(scenario, scenario.directives) for scenario in scenarios]
        files += [file for scenario in scenarios for file in scenario.sources]
    models = []
    for scenario, directives in scenes:
        if not directives:
            continue
        plan = plan_directives(directives, MultibodyPlant(0.0), packages, diagnostics, sources=files)
        added = [spec for _, spec in plan.added]
        if scenario is not None:
            check_contact_model(scenario, added, diagnostics)
        models += added
    return models, files
