"""Whether a model is physically possible: checks over `ModelSpec`, whatever the file's format.

One subject per file; `check_model` runs them. A few hold for every use of a model and are reported when it is loaded;
`mbcli check` runs all of them (`Diagnostics(thorough=True)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.checks.flat_model import flatten
from mbcli.parsers.checks.inertia import check_inertias
from mbcli.parsers.checks.inertia_size import check_inertia_sizes
from mbcli.parsers.checks.joint_limits import check_limit_units
from mbcli.parsers.checks.moving_mass import check_moving_masses, check_weight
from mbcli.parsers.checks.report import Report
from mbcli.parsers.checks.structure import check_loops

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import ModelSpec

_ALWAYS = (check_inertias, check_inertia_sizes, check_moving_masses, check_weight, check_limit_units, check_loops)


def check_model(model: ModelSpec, diagnostics: Diagnostics) -> None:
    """Record the implausible in a `ModelSpec`, which may have errors: the elements that they touch are left alone.

    Runs while the model's file is being read, so that findings know their XML elements.
    """
    flat, report = flatten(model), Report(diagnostics)
    if diagnostics.mesh_files:
        from mbcli.parsers.checks.mesh_contents import check_mesh_contents

        flat.mesh_bounds.update(check_mesh_contents(flat, report))
    with np.errstate(all="ignore"):  # numbers of a file may be of any size
        for check in (*_ALWAYS, *(_more_checks() if diagnostics.thorough else ())):
            check(flat, report)


def _more_checks() -> tuple[Callable[[FlatModel, Report], None], ...]:
    """Those of `mbcli check`; others need not import them."""
    from mbcli.parsers.checks.center_of_mass import check_centers_of_mass
    from mbcli.parsers.checks.hydroelastic import check_hydroelastic
    from mbcli.parsers.checks.joint_limits import check_efforts_and_speeds, check_ranges
    from mbcli.parsers.checks.joint_reach import check_reach
    from mbcli.parsers.checks.link_shape import check_collision_places, check_densities, check_inertia_shapes
    from mbcli.parsers.checks.model_units import check_model_units
    from mbcli.parsers.checks.moving_mass import check_missing_inertials
    from mbcli.parsers.checks.names import check_names
    from mbcli.parsers.checks.structure import check_followers
    from mbcli.parsers.checks.twins import check_twins

    return (
        check_centers_of_mass,
        check_ranges,
        check_efforts_and_speeds,
        check_followers,
        check_names,
        check_model_units,
        check_hydroelastic,
        check_missing_inertials,
        check_densities,
        check_inertia_shapes,
        check_collision_places,
        check_reach,
        check_twins,
    )
