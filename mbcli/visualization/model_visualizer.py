"""ModelVisualizer: models in the browser, moved by sliders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph
from mbcli.systems.diagram_builder import DiagramBuilder
from mbcli.visualization.configuration import ApplyVisualizationConfig, VisualizationConfig
from mbcli.visualization.meshcat import StartMeshcat
from mbcli.visualization.sliders import JointSliders, run_sliders
from mbcli.visualization.triads import AddFrameTriadIllustration

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.visualization.meshcat import Meshcat

STOP = "Stop Running"


class ModelVisualizer:
    """Shows models in a Meshcat: AddModels() or parser(), then Run().

    Args:
        visualize_frames: whether frames of bodies are shown, by sticks of triad_length and triad_radius [m].
        publish_contacts: whether contacts are shown.
        meshcat: in which; a new one if not given.
        others: take no effect.
    """

    def __init__(
        self,
        *,
        visualize_frames: bool = False,
        triad_length: float = 0.3,
        triad_radius: float = 0.005,
        triad_opacity: float = 0.9,
        publish_contacts: bool = True,
        meshcat: Meshcat | None = None,
        **others: Any,
    ) -> None:
        self._frames, self._triad = visualize_frames, (triad_length, triad_radius, triad_opacity)
        self._publish_contacts, self._meshcat = publish_contacts, meshcat
        self._builder: DiagramBuilder | None = DiagramBuilder()
        self._plant, self._scene_graph = AddMultibodyPlantSceneGraph(self._builder, 0.01)
        self._parser = Parser(self._plant)
        self._parser.SetAutoRenaming(True)
        self._diagram: Any = None

    def parser(self) -> Parser:
        """The Parser that adds models. RuntimeError after Finalize()."""
        self._require_open("parser")
        return self._parser

    def package_map(self) -> Any:
        """The PackageMap of the parser."""
        return self.parser().package_map()

    def meshcat(self) -> Meshcat:
        """The Meshcat."""
        if self._meshcat is None:
            self._meshcat = StartMeshcat()
        return self._meshcat

    def AddModels(self, filename: Any = None, *, url: str | None = None) -> None:
        """Adds the models of a file, or of a package:// address."""
        self._require_open("AddModels")
        if url is not None:
            self._parser.AddModels(url=url)
        else:
            self._parser.AddModels(str(filename))

    def Finalize(self, position: ArrayLike | None = None) -> None:
        """Ends the adding of models; position (nq,): where they are shown first."""
        self._require_open("Finalize")
        assert self._builder is not None
        if self._frames:
            length, radius, opacity = self._triad
            for body in self._plant.elements.bodies:
                AddFrameTriadIllustration(
                    scene_graph=self._scene_graph, body=body, length=length, radius=radius, opacity=opacity
                )
        self._plant.Finalize()
        config = VisualizationConfig(publish_contacts=self._publish_contacts)
        ApplyVisualizationConfig(config, self._builder, plant=self._plant, meshcat=self.meshcat())
        self.meshcat().DeleteAddedControls()  # those of models that were shown before
        self._sliders = self._builder.AddNamedSystem(
            "joint_sliders", JointSliders(self.meshcat(), self._plant, position)
        )
        self._diagram, self._builder = self._builder.Build(), None
        self._context = self._diagram.CreateDefaultContext()
        self._publish()

    def Run(self, position: ArrayLike | None = None, loop_once: bool = False) -> None:
        """Shows the models at the positions of the sliders until a button of the page is pressed, or once."""
        if self._diagram is None:
            self.Finalize(position)
        elif position is not None:
            self._sliders.SetPositions(position)
        if loop_once:
            self._publish()
        else:
            run_sliders(self.meshcat(), self._publish, None, button=STOP)

    def _publish(self) -> None:
        positions = self._sliders.get_output_port().Eval(self._sliders.GetMyContextFromRoot(self._context))
        self._plant.SetPositions(self._plant.GetMyContextFromRoot(self._context), positions)
        self._diagram.ForcedPublish(self._context)

    def _require_open(self, method: str) -> None:
        if self._builder is None:
            raise RuntimeError(f"{method}: Finalize() has been called already")
