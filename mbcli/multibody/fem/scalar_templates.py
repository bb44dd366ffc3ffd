"""X_[T] of what elastic bodies are made of."""

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.fem.body_config import DeformableBodyConfig
from mbcli.multibody.fem.force_density import ForceDensityFieldBase

DeformableBodyConfig_ = ScalarTemplate(DeformableBodyConfig)
ForceDensityFieldBase_ = ScalarTemplate(ForceDensityFieldBase)
