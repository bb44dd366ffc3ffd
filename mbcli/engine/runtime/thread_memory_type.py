"""publish() and wait_until() of thread_memory.py as numba compiles them. Imported only if kernels are compiled."""

import sys

from llvmlite import ir
from numba import types

from mbcli.engine.runtime.instructions import instructions_of
from mbcli.engine.runtime.thread_memory import publish, wait_until

BUSY = 500_000  # looks at the number, 1 ms, before this thread sleeps between them: so the other one can have its core
NAP = 1  # [us], in truth about 50
NUMBER, INT32 = ir.IntType(64), ir.IntType(32)


def _place(context, builder, kind, array, k):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [k])


@instructions_of(publish)
def _store(typingctx, array, k, value):
    def codegen(context, builder, sig, args):
        place = _place(context, builder, sig.args[0], args[0], args[1])
        builder.store_atomic(args[2], place, "release", 8)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen


@instructions_of(wait_until)
def _wait(typingctx, array, k, value):
    def codegen(context, builder, sig, args):
        place = _place(context, builder, sig.args[0], args[0], args[1])
        before = builder.block
        look, again, nap, done = map(builder.append_basic_block, ("look", "again", "nap", "done"))
        builder.branch(look)
        builder.position_at_end(look)
        times = builder.phi(INT32, "times")
        times.add_incoming(INT32(0), before)
        arrived = builder.icmp_signed(">=", builder.load_atomic(place, "acquire", 8), args[2])
        builder.cbranch(arrived, done, again)
        builder.position_at_end(again)
        more = builder.add(times, INT32(1))
        times.add_incoming(more, again)
        if sys.platform == "win32":  # which has no usleep
            builder.branch(look)
            builder.position_at_end(nap)
            builder.unreachable()
        else:
            builder.cbranch(builder.icmp_signed(">", more, INT32(BUSY)), nap, look)
            builder.position_at_end(nap)
            kind, module = ir.FunctionType(INT32, [INT32]), builder.module
            sleep = module.globals.get("usleep") or ir.Function(module, kind, "usleep")
            builder.call(sleep, [INT32(NAP)])
            times.add_incoming(more, nap)
            builder.branch(look)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen
