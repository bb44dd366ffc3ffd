"""What elastic bodies are made of and what pulls at them, under the names of pydrake.multibody.fem."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.fem.body_config import (
        DeformableBodyConfig as DeformableBodyConfig,
        MaterialModel as MaterialModel,
    )
    from mbcli.multibody.fem.force_density import (
        ForceDensityFieldBase as ForceDensityFieldBase,
        ForceDensityType as ForceDensityType,
    )
    from mbcli.multibody.fem.scalar_templates import (
        DeformableBodyConfig_ as DeformableBodyConfig_,
        ForceDensityFieldBase_ as ForceDensityFieldBase_,
    )
