"""Model directives under the names of pydrake.multibody.parsing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.parsing.parser import Parser
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.directives import flatten_directives, read_directives

if TYPE_CHECKING:
    import os

    from mbcli.multibody.parsing.package_map import PackageMap
    from mbcli.multibody.parsing.process_directives import ModelInstanceInfo
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.scenes.directives_spec import ModelDirectives


def LoadModelDirectives(filename: str | os.PathLike[str]) -> ModelDirectives:
    """The ModelDirectives of a file. Raises ModelError or ResourceError with every finding in it."""
    return _checked(read_directives, str(filename))


def LoadModelDirectivesFromString(model_directives: str) -> ModelDirectives:
    """The ModelDirectives of a YAML text; relative paths in it start from the working directory."""
    return _checked(read_directives, model_directives.encode())


def FlattenModelDirectives(directives: ModelDirectives, package_map: PackageMap) -> ModelDirectives:
    """The same directives with those of all included files in the place of each `add_directives`."""
    return _checked(lambda diagnostics: flatten_directives(directives, package_map, diagnostics)[0])


def ProcessModelDirectives(
    directives: ModelDirectives, *arguments: Any, plant: MultibodyPlant | None = None, parser: Parser | None = None
) -> list[ModelInstanceInfo]:
    """ProcessModelDirectives(directives, parser), or with a plant and perhaps a parser: adds their models.

    Returns a ModelInstanceInfo for each model. Raises ModelError or ResourceError; then nothing has been added. The
    name of a model must be new, also if the parser renames others.
    """
    for argument in arguments:
        if isinstance(argument, Parser):
            parser = argument
        else:
            plant = argument
    if parser is None:
        if plant is None:
            raise TypeError("ProcessModelDirectives needs a parser or a plant")
        parser = Parser(plant)
    elif plant is not None and parser.plant() is not plant:
        raise RuntimeError("ProcessModelDirectives: the parser is of another plant")
    return parser.add_directives(directives)


def _checked(read, *arguments):
    diagnostics = Diagnostics()
    result = read(*arguments, diagnostics)
    diagnostics.raise_if_errors()
    return result
