"""Kernels as numba compiles them here: what Python calls is a program, optimized once with all kernels that it calls.

numba makes machine code of each function, with a copy of all that the function calls, so that LLVM optimizes an inner
kernel again with each that calls it, and a loop of steps has 200 of them. Here an inner kernel is lowered to LLVM's
language and waits. A program is one module of what it needs, in which inner kernels have no names of their own.

Nobody counts the owners of arrays in kernels: who calls one holds the arrays that it gives. So a program may return no
array. numba is not to be imported before kernels are compiled, and this module not before numba.
"""

from numba import types

from mbcli.common.collection_pause import paused_collection
from mbcli.engine.runtime.kernel import UNLOCKED
from mbcli.engine.runtime.numba_parts import (
    CFunc,
    CompilerBase,
    Context,
    CPUContext,
    CPUDispatcher,
    DeadBranchPrune,
    FixupArgs,
    FunctionPass,
    GenericRewrites,
    IRLegalization,
    JITCodeLibrary,
    JITCPUCodegen,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    NRTContext,
    PassManager,
    PreLowerStripPhis,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
    _pass_registry,
    canonicalize_cfg,
    cpu_target,
    normalize_signature,
    register_pass,
)

# contract: fused multiply-add, no more; _nrt: whether owners are counted
OPTIONS = {"nopython": True, "fastmath": {"contract"}, "error_model": "numpy", "_nrt": False}
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


_waiting = []  # functions to be called before anything is compiled


def before_compiling(prepare):
    """prepare() is called before a kernel is compiled, if one is: what is on disk needs nothing."""
    _waiting.append(prepare)


def inner_kernel(function):
    """A function that only kernels call, in memory alone; a call from Python would crash."""
    options = OPTIONS | WITHOUT_WRAPPERS
    return _compile_once_for_constants(InnerKernel(function, targetoptions=options, pipeline_class=KernelCompiler))


def program(function):
    """A function that Python calls. TypeError when it is compiled if it returns arrays.

    Other threads of Python wait for it unless it is marked `unlocked`: they might call it for the same data.
    """
    options = OPTIONS | {"nogil": function.__name__ in {marked.__name__ for marked in UNLOCKED}}
    return _compile_once_for_constants(Program(function, targetoptions=options, pipeline_class=ProgramCompiler))


def program_for_c(function, signature):
    """A function of C of numbers, not yet compiled."""
    return ProgramForC(
        function, normalize_signature(signature), locals={}, options=OPTIONS, pipeline_class=KernelCompiler
    )


def _compile_once_for_constants(dispatcher):
    """Lets calls with the constants 0 and 1 share the code of other integers, which numba would compile for each.

    The compiler finds the constants again if it inlines the call.
    """
    template_for = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template_for(
        tuple(types.unliteral(arg) for arg in args), {name: types.unliteral(arg) for name, arg in kws.items()}
    )
    return dispatcher


class KernelCodegen(JITCPUCodegen):
    """numba's own, with its machine code, but for the class of libraries."""

    def __init__(self, library_class):
        vars(self).update(vars(cpu_target.target_context.codegen()))
        self._library_class = library_class

    def object_file(self, module):
        """The machine code of a module of LLVM that is optimized."""
        return self._tm.emit_object(module)

    def set_env(self, name, env):
        """What a function needs for objects of Python: inner kernels have none."""
        if self._engine.is_symbol_defined(name):
            super().set_env(name, env)


class KernelContext(CPUContext):
    """numba's own, where structs may be read though owners are not counted, and which remembers what it is asked for.

    sizes: of types of LLVM, which it is asked for as text.
    found: {(function, signature): how it is lowered} of functions that are not compiled.
    """

    sizes = {}

    @classmethod
    def take_over(cls, context):
        """Makes a context of numba one of kernels."""
        context.__class__, context.found, context.found_by = cls, {}, context

    @property
    def nrt(self):
        return NRTContext(self, True)

    def get_abi_sizeof(self, ty):
        name = str(ty)
        if name not in self.sizes:
            self.sizes[name] = super().get_abi_sizeof(ty)
        return self.sizes[name]

    def get_function(self, fn, sig, _firstcall=True):
        if self.found_by is not self or not isinstance(fn, types.Function):  # one that was made of this one
            return super().get_function(fn, sig, _firstcall)
        key = (fn, sig)
        if key not in self.found:
            self.found[key] = super().get_function(fn, sig, _firstcall)
        return self.found[key]


class KernelTyping(Context):
    """numba's own, which finds the types of operators of known types once and not at each place."""

    def __init__(self):
        vars(self).update(vars(cpu_target.typing_context))
        self._operators = {}  # {operator: its type}

    def _lookup_global(self, value):
        found = super()._lookup_global(value)
        if type(found) is not types.Function or getattr(found.typing_key, "__module__", "") != "_operator":
            return found
        operator = self._operators.get(found.typing_key)
        if operator is None or operator.templates is not found.templates:  # an extension of numba has added some
            operator = self._operators[found.typing_key] = RememberedOperator(found.templates)
        return operator


class RememberedOperator(types.Function):
    """An operator of Python, of which numba asks a hundred templates in turn, each time it is used, if they fit."""

    def __init__(self, templates):
        super().__init__(templates)
        self._signatures = {}

    def get_call_type(self, context, args, kws):
        key = (args, tuple(kws.items()))
        found = self._signatures.get(key)
        if found is None:
            found = self._signatures[key] = super().get_call_type(context, args, kws)
        return found

    def augment(self, other):
        return types.Function(self.templates).augment(other)


class KernelTarget:
    """What numba compiles for: this processor, by libraries of a class."""

    options, typing_context = cpu_target.options, KernelTyping()

    def __init__(self, library_class):
        self.target_context = cpu_target.target_context.subtarget(
            _internal_codegen=KernelCodegen(library_class), typing_context=self.typing_context
        )
        KernelContext.take_over(self.target_context)


@register_pass(mutates_CFG=False, analysis_only=True)
class ReturnsNoArray(FunctionPass):
    _name = "returns_no_array"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        refuse_arrays(state.func_id.func_name, state.return_type)
        return False


def refuse_arrays(name, result):
    """TypeError if the result of a program has arrays, to a type of numba."""
    if isinstance(result, (types.Buffer, types.StructRef)):
        raise TypeError(
            f"kernel {name} returns {result} to Python, though nobody counts the owners of arrays in kernels"
        )
    for part in result if isinstance(result, types.BaseTuple) else ():
        refuse_arrays(name, part)


class KernelPasses(PassManager):
    """Passes one after another. numba's own tells listeners of each and finds the lives of all variables after it."""

    def run(self, state):
        for name, _ in self.passes:
            each = _pass_registry.get(name).pass_inst
            each.analysis = self._analysis
            each.run_pass(state)
            if isinstance(each, FunctionPass):
                state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)


class KernelCompiler(CompilerBase):
    """The passes of numba that a kernel needs.

    Not those for closures, generators, expressions of whole arrays, functions to be inlined and lists of types, which
    kernels do not have: what comes out is the same.
    """

    passes = (
        TranslateByteCode,
        FixupArgs,
        RewriteSemanticConstants,
        DeadBranchPrune,
        GenericRewrites,
        ReconstructSSA,
        DeadBranchPrune,
        NopythonTypeInference,
        PreLowerStripPhis,
        IRLegalization,
        NativeLowering,
        NoPythonBackend,
    )

    def __init__(self, *arguments):
        while _waiting:
            _waiting.pop(0)()
        super().__init__(*arguments)

    def define_pipelines(self):
        chosen = KernelPasses("kernel")
        for each in self.passes:
            chosen.add_pass(each, each.__name__)
        chosen.finalize()
        return [chosen]


class ProgramCompiler(KernelCompiler):
    """The same, of a kernel that Python calls."""

    _typed = KernelCompiler.passes.index(NopythonTypeInference) + 1
    passes = (*KernelCompiler.passes[:_typed], ReturnsNoArray, *KernelCompiler.passes[_typed:])


# ------------------------------------------------------------------------------------------------- libraries


class LoweredLibrary(JITCodeLibrary):
    """A function in LLVM's language. It is not machine code, nor optimized.

    Attributes:
        module: the module of LLVM that has it.
        called: the libraries of what it calls.
    """

    @property
    def module(self):
        return self._final_module

    @property
    def called(self):
        return self._linking_libraries

    def add_llvm_module(self, module):
        self._final_module.link_in(module)

    def finalize(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0


class ProgramLibrary(JITCodeLibrary):
    """A program, as machine code."""

    def add_llvm_module(self, module):
        self._final_module.link_in(module)

    def finalize(self):
        self.optimize()
        self._finalize_final_module()

    def optimize(self):
        """Adds all that is needed; returns the module of LLVM."""
        module, names = self._final_module, defined_names(self._final_module)
        waiting, added = list(self._linking_libraries), set()
        while waiting:
            library = waiting.pop()
            if library in added:
                continue
            added.add(library)
            if isinstance(library, LoweredLibrary):
                module.link_in(library.module, preserve=True)
                waiting += library.called
            else:
                module.link_in(library._get_module_for_linking(), preserve=True)
        for named in (*module.functions, *module.global_variables):
            if not named.is_declaration and named.name not in names:
                named.linkage = "internal"  # nobody else calls it
        self._optimize_final_module()
        return self._final_module


def defined_names(module):
    """Names of functions and variables that a module of LLVM has."""
    return {named.name for named in (*module.functions, *module.global_variables) if not named.is_declaration}


INNER, WHOLE = KernelTarget(LoweredLibrary), KernelTarget(ProgramLibrary)


class InnerKernel(CPUDispatcher):
    targetdescr = INNER


class Program(CPUDispatcher):
    targetdescr = WHOLE

    def compile(self, signature):
        with paused_collection(collect=False):  # a second for each program
            return super().compile(signature)


class ProgramForC(CFunc):
    _targetdescr = WHOLE

    def compile(self):
        with paused_collection(collect=False):  # a second for each program
            super().compile()
