"""The private parts of numba that kernels need, all here: a release of numba may move or change them without notice.

So pyproject.toml has an upper bound for numba. `tests/engine/runtime/test_private_parts.py` names what a release lacks,
and docs/explanation/kernels.md what each part is for. To be imported after common/numba_start.py has imported numba.
What numba and numba.extending have comes from there.
"""

# ruff: noqa: F401
from numba.core import cgutils  # builders of LLVM's instructions
from numba.core.ccallback import CFunc  # whole programs
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock  # native calls
from numba.core.compiler_machinery import FunctionPass, PassManager, _pass_registry, register_pass
from numba.core.cpu import CPUContext
from numba.core.datamodel.models import ArrayModel  # arrays of views
from numba.core.imputils import impl_ret_borrowed  # structs, lanes
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.context import NRTContext
from numba.core.sigutils import normalize_signature
from numba.core.transforms import canonicalize_cfg
from numba.core.typeconv import Conversion  # lanes
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing import Context
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer,
    infer_global,
    make_intrinsic_template,
    signature,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.experimental import structref  # structs
from numba.np import arrayobj  # arrays of views, lanes


def parts_of_caches():
    """Classes of numba's cache files, and its pickler; late, since who only calls kernels that are kept needs less."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.core.serialize import dumps

    return CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, dumps
