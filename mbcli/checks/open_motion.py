"""Motion that the masses of a file leave open: its mass matrix is singular, though every joint moves some mass."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.errors import MbcliError
from mbcli.multibody.parsing.add_model import add_models
from mbcli.multibody.parsing.base_welds import weld_bases, weld_massless_bases
from mbcli.multibody.parsing.model_instances import top_models
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.missing_mass import undetermined_motion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.multibody.stepping.missing_mass import OpenMotion
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import ModelSpec

TOLD = ("MODEL_WITHOUT_MASS", "MOVING_MASS_MISSING", "FLOATING_MASS_MISSING")  # of which it follows
MOST_VELOCITIES = 500  # of a plant whose mass matrix is looked at
FEW_VELOCITIES = 60  # for one state of which loading compiled kernels would take longer


def check_open_motion(models: Sequence[Any], diagnostics: Diagnostics) -> None:
    """MOTION_UNDETERMINED, once a file, of ModelSpecs as `mbcli simulate` takes them."""
    if any(finding.code in TOLD for finding in diagnostics.findings):
        return
    motion = _open_motion(models, welded=False)
    if motion is None:
        return
    place = None if motion.link is None else motion.link.place
    helps = _open_motion(models, welded=True) is None
    diagnostics.warning(
        "MOTION_UNDETERMINED",
        motion.matter,
        place=place or models[0].place,
        hint=f"give it what it lacks{', or weld its base to the world (--weld-base)' if helps else ''}",
    )


def _open_motion(models: Sequence[ModelSpec], *, welded: bool) -> OpenMotion | None:
    """The OpenMotion of a plant of the models, with its bases welded to the world or not; None if there is none."""
    plant = MultibodyPlant(MultibodyPlantConfig().time_step)
    try:
        for model in models:
            add_models(plant, model, [part.name for part in top_models([model])])
        if welded:
            weld_bases(plant)
        weld_massless_bases(plant)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of joints that close loops: whoever runs it is told
            plant.Finalize()
        if not 0 < plant.num_velocities() <= MOST_VELOCITIES:
            return None
        plant.prefers_interpreted = plant.num_velocities() < FEW_VELOCITIES
        return undetermined_motion(plant, plant.CreateDefaultContext())
    except (MbcliError, RuntimeError):
        return None  # a plant of it has another fault, which whoever makes it is told
