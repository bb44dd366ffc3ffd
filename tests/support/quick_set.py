"""The quick set: the test files that `bash .ci/test -m quick` runs, all of them in a minute on two cores.

One to a few files of every room, chosen by what they cover for the processor time that they take. Measure before you
add one: `MBCLI_JIT=0 python -m pytest FILE --durations 0`.
"""

QUICK = frozenset()
