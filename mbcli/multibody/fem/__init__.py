"""What elastic bodies are made of and what pulls at them, under the names of pydrake.multibody.fem."""

from mbcli.multibody.fem.body_config import DeformableBodyConfig, MaterialModel
from mbcli.multibody.fem.force_density import ForceDensityFieldBase, ForceDensityType

__all__ = ["DeformableBodyConfig", "ForceDensityFieldBase", "ForceDensityType", "MaterialModel"]
