"""What differs between two models, and between engines that read one model.

    from mbcli.comparison import compare_engines, compare_models

    for difference in compare_models("last_week.urdf", "arm.urdf").differences: print(difference)

differences        the record of a difference, and what probably caused it
model_comparison   compare_models(): elements and motion of two models; matched_names: which of them are the same
engine_comparison  compare_engines(): one model in this engine and in others
own_engine         what is compared, of this engine
peer_process       another engine in a process of its own; shapeless_urdf: what it reads
peer_drake, peer_pinocchio, peer_mujoco, peer_bullet   what is compared, of these engines
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.comparison.differences import Comparison as Comparison, Difference as Difference
    from mbcli.comparison.engine_comparison import compare_engines as compare_engines
    from mbcli.comparison.model_comparison import compare_models as compare_models
