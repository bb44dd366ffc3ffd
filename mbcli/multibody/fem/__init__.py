"""What elastic bodies are made of and what pulls at them, under the names of pydrake.multibody.fem."""

from mbcli.multibody.fem.body_config import DeformableBodyConfig, MaterialModel
from mbcli.multibody.fem.force_density import ForceDensityFieldBase, ForceDensityType
from mbcli.multibody.fem.scalar_templates import DeformableBodyConfig_, ForceDensityFieldBase_

__all__ = [
    "DeformableBodyConfig",
    "DeformableBodyConfig_",
    "ForceDensityFieldBase",
    "ForceDensityFieldBase_",
    "ForceDensityType",
    "MaterialModel",
]
