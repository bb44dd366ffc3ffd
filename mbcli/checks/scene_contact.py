"""The contact model of a scenario beside the hydroelastic properties of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.scenes.scenario import Scenario
    from mbcli.parsers.spec import LinkSpec, ModelSpec

GROUP = "hydroelastic"


def check_contact_model(scenario: Scenario, models: Sequence[ModelSpec], diagnostics: Diagnostics) -> None:
    """HYDROELASTIC_UNUSED, HYDROELASTIC_RIGID_ONLY of a Scenario with its ModelSpecs."""
    contact_model = scenario.run.plant_config.contact_model
    default = scenario.run.scene_graph_config.default_proximity_properties.compliance_type
    kinds = [
        geometry.properties.get((GROUP, "compliance_type"), default)
        for model in models
        for link in _links(model)
        for geometry in link.collisions
    ]
    stated = [kind for kind in kinds if kind != "undefined"]
    count = "1 collision has" if len(stated) == 1 else f"{len(stated)} collisions have"
    if contact_model == "point" and stated:
        message = f"contact_model is point: {count} hydroelastic properties, which are not used"
        diagnostics.note("HYDROELASTIC_UNUSED", message, place=scenario.place)
    elif contact_model == "hydroelastic" and kinds and "compliant" not in stated:
        message = "contact_model is hydroelastic, and no collision is compliant: solids that touch are an error"
        hint = "hydroelastic_with_fallback lets them touch at points"
        diagnostics.warning("HYDROELASTIC_RIGID_ONLY", message, place=scenario.place, hint=hint)


def _links(model: ModelSpec) -> Iterator[LinkSpec]:
    yield from model.links
    for nested in model.models:
        yield from _links(nested)
