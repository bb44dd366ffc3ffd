"""A model as the file of another format: converted, proved, and then written with its meshes."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbcli.common.coordinate_names import listed
from mbcli.conversion.conversion_proof import prove, prove_by_engine
from mbcli.conversion.mesh_bundle import bundle_names, copy_bundle, is_made
from mbcli.conversion.plant_comparison import PlantComparison
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.parsing.model_of_scene import model_of_scene
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.writing.additions import Additions
from mbcli.parsers.writing.conversion import converted, mesh_paths
from mbcli.parsers.writing.flatten import flattened
from mbcli.parsers.writing.losses import Loss, Losses
from mbcli.parsers.writing.mesh_colors import with_mesh_colors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.parsers.package_map import PackageMap

SEED = 0
PROVED = ("deviations", "tolerance", "engines", "unproved")  # of a PlantComparison


@dataclass
class Converted:
    """A conversion that is proved."""

    target: str
    text: str  # of the file
    proof: PlantComparison
    losses: list[Loss]
    copies: dict[str, str]  # {path of a mesh: name of its copy}
    place: SourceLocation

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it, with the meshes that this machine made; of the proof what it says."""
        made = {path: Path(path).read_text() for path in self.copies if is_made(path)}
        proof = {name: getattr(self.proof, name) for name in PROVED}
        rest = {"losses": list(map(asdict, self.losses)), "place": asdict(self.place), "proof": proof, "made": made}
        return vars(self) | rest

    @staticmethod
    def from_dict(document: Mapping[str, Any], folder: str) -> Converted:
        """The contrary of as_dict(); the meshes that were made go into a folder."""
        there = {path: os.path.join(folder, f"{k}.obj") for k, path in enumerate(document["made"])}
        for path, content in document["made"].items():
            Path(there[path]).write_text(content)
        losses = [Loss(**{**loss, "place": SourceLocation(**loss["place"])}) for loss in document["losses"]]
        copies = {there.get(path, path): name for path, name in document["copies"].items()}
        proof, place = PlantComparison(**document["proof"]), SourceLocation(**document["place"])
        return Converted(document["target"], document["text"], proof, losses, copies, place)

    def content(self, suffix: str) -> bytes:
        """Of a file of a suffix: formats may have several kinds."""
        return FORMATS[self.target].target().encoded(self.text.encode(), suffix)

    def copy_meshes(self, folder: str, packages: PackageMap, force: bool) -> None:
        """Copies the meshes beside the file; what they name and is not there is one more loss."""
        for name in copy_bundle(self.copies, folder, packages, force):
            message = f"the file {name}, which a mesh names: it is not copied"
            self.losses.append(Loss("lost", "MESH", message, self.place))


def convert_model(
    plant: Any,
    read: Any,
    target: str,
    *,
    packages: Any,
    folder: str,
    bundle: bool = False,
    to_file: bool = True,
    lossy: bool = False,
    additions: Additions | None = None,
    on_losses: Callable[[list[Loss]], object] = lambda losses: None,
) -> Converted:
    """Converts the one model of a finalized plant and proves the result; writes nothing.

    Args:
        plant: of the ModelSpec `read`, with welds, frames and settings.
        target: name of a format, of TARGETS.
        packages: PackageMap; folder: of the file that is to be written.
        bundle: whether all meshes are to be copied there, see Converted.copy_meshes().
        to_file: whether there is a folder for those that no file of the model holds, which are always copied.
        lossy: whether elements may be left out without which the model moves differently.
        additions: changes of the model, which the proof takes for granted.
        on_losses: is told the losses before errors are raised.

    Raises:
        ModelError: the format lacks what moves the model.
        NumericalError: the text would not be the same mechanism.
    """
    model = model_of_scene(plant, flattened(read))
    if additions:
        model = additions.applied(model)
    to = FORMATS[target].target()
    losses = Losses()
    model = with_mesh_colors(model, to, bundle, losses)
    copied = [] if to.embeds_meshes else [path for path in mesh_paths(model) if bundle or (to_file and is_made(path))]
    copies = bundle_names(copied, to.copied_suffix)
    conversion = converted(model, target, packages=packages, folder=folder, copies=copies, losses=losses)
    on_losses(list(conversion.losses))
    fatal = [loss for loss in conversion.losses if loss.kind == "motion"]
    if fatal and not lossy:
        lines = [
            f"{loss.place}: error: {FORMATS[target].TITLE} cannot express {loss.message} (--lossy leaves it out)"
            for loss in fatal
        ]
        raise ModelError("\n".join(lines))
    packages.require_answers()
    proof = prove(None if additions else plant, conversion, packages, seed=SEED)
    prove_by_engine(conversion, proof, seed=SEED)
    faults = proof.faults()
    if faults:
        raise NumericalError(f"the {target} file would not be the same mechanism: {listed(faults)}; nothing is written")
    more = []
    if not proof.same_order:
        more.append(Loss("changed", "ORDER", "the coordinates come in another order", read.place))
    on_losses(more)
    used = set(map(os.path.abspath, mesh_paths(conversion.kept)))
    copies = {path: name for path, name in copies.items() if path in used}
    return Converted(target, conversion.text.decode(), proof, [*conversion.losses, *more], copies, read.place)
