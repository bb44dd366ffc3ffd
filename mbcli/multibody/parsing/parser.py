"""Parser: reads model files and adds their models to a plant."""

from mbcli.multibody.parsing.add_model import add_model
from mbcli.multibody.parsing.package_map import PackageMap
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models


class Parser:
    """Adds the models of files to a plant, one model instance per model.

    All findings of a file are collected; errors are raised once, as one ModelError with a line for each. Warnings stay
    in `diagnostics`.

    Args:
        plant: not finalized.
        model_name_prefix: put before instance names with `::`.
    """

    def __init__(self, plant=None, model_name_prefix="", *, diagnostics=None, packages=None):
        self._plant = plant
        self._prefix = f"{model_name_prefix}::" if model_name_prefix else ""
        self._packages = PackageMap() if packages is None else packages
        self._auto_renaming = False
        self._strict = False
        self.diagnostics = Diagnostics() if diagnostics is None else diagnostics
        self.specs = []  # every ModelSpec added, in order

    def plant(self):
        return self._plant

    def package_map(self):
        return self._packages

    def SetAutoRenaming(self, value):
        """Whether a model whose name is taken gets a suffix, instead of an error."""
        self._auto_renaming = bool(value)

    def GetAutoRenaming(self):
        return self._auto_renaming

    def SetStrictParsing(self):
        """Warnings are errors from now on."""
        self._strict = True

    def AddModels(self, file_name=None, *, url=None, file_contents=None, file_type=None):
        """Adds the models of a file, of a package:// URL, or of text with its type (`.sdf` or `.urdf`).

        Returns their model instances. Raises ModelError or ResourceError; then nothing has been added.
        """
        if file_contents is not None:
            source = file_contents.encode() if isinstance(file_contents, str) else file_contents
            input_format = (file_type or "").lstrip(".") or None
        else:
            source, input_format = str(file_name if file_name is not None else url), file_type
        specs = load_models(source, input_format=input_format, packages=self._packages, diagnostics=self.diagnostics)
        self.diagnostics.raise_if_errors(strict=self._strict)
        instances = []
        for spec in specs:
            instances.append(add_model(self._plant, spec, self._instance_name(spec)))
            self.specs.append(spec)
        return instances

    def AddModelsFromString(self, file_contents, file_type):
        return self.AddModels(file_contents=file_contents, file_type=file_type)

    def AddModelsFromUrl(self, url):
        return self.AddModels(url=url)

    def _instance_name(self, spec):
        name = self._prefix + spec.name
        if not self._auto_renaming:
            return name
        candidate, n = name, 0
        while self._plant.HasModelInstanceNamed(candidate):
            n += 1
            candidate = f"{name}_{n}"
        return candidate
