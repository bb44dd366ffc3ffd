"""Logs that a disk has damaged or that somebody has made to do harm, and every command that reads a log.

`attempt()` runs a command in a process forked for it, with bounds on memory and processor time.
"""

import os
import random
import resource
import signal
import sys
import tempfile
import time

import h5py
import numpy as np

MEMORY = 1 << 30  # [bytes] more than the process had before
SECONDS = 20  # [s] of processor time
PATIENCE = 200.0  # [s] of a busy machine
SECRET = b"what the log must not read 4242"


def flip_bits(content, draw):
    """One to eight bits anywhere."""
    content = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def spoil_bytes(content, draw):
    """A run of other bytes: zeros, ones, or random ones."""
    start, size = draw.randrange(len(content)), draw.choice([2, 4, 8, 64, 512])
    kind = draw.choice(["zeros", "ones", "random"])
    other = {"zeros": b"\0" * size, "ones": b"\xff" * size, "random": draw.randbytes(size)}[kind]
    return content[:start] + other[: len(content) - start] + content[start + size :]


def cut(content, draw):
    """The beginning."""
    return content[: draw.randrange(len(content))]


def swap(content, draw):
    """Two pieces change places."""
    size = draw.choice([8, 64, 512])
    a, b = sorted(draw.sample(range(len(content) - size), 2))
    if b < a + size:
        return flip_bits(content, draw)
    return content[:a] + content[b : b + size] + content[a + size : b] + content[a : a + size] + content[b + size :]


DAMAGES = (flip_bits, flip_bits, spoil_bytes, spoil_bytes, cut, swap)


def _replace(file, path, **options):
    names = {name: file[path].attrs[name] for name in ("names", "units") if name in file[path].attrs}
    del file[path]
    made = file.create_dataset(path, **options)
    for name, value in names.items():
        made.attrs[name] = value
    return made


def external_link(file, path, folder, draw):
    """To another HDF5 file."""
    del file[path]
    file[path] = h5py.ExternalLink(os.path.join(folder, "secret.h5"), "/secret")


def soft_link(file, path, folder, draw):
    """To another dataset, or to nothing."""
    del file[path]
    file[path] = h5py.SoftLink(draw.choice(["/time", "/nothing", "/state/v"]))


def external_storage(file, path, folder, draw):
    """Numbers in any other file."""
    shape = file[path].shape or (4,)
    size = int(np.prod(shape)) * 8
    _replace(file, path, shape=shape, dtype="f8", external=[(os.path.join(folder, "secret.bin"), 0, max(size, 8))])


def virtual(file, path, folder, draw):
    """A view of another file."""
    shape = file[path].shape or (4,)
    layout = h5py.VirtualLayout(shape=shape, dtype="f8")
    layout[...] = h5py.VirtualSource(os.path.join(folder, "secret.h5"), "secret", shape=shape)
    names = {name: file[path].attrs[name] for name in ("names", "units") if name in file[path].attrs}
    del file[path]
    made = file.create_virtual_dataset(path, layout)
    made.attrs.update(names)


def many_rows(file, path, folder, draw):
    """A length that nothing is stored for."""
    rows = draw.choice([10**5, 10**7, 10**9, 10**11, 2**62])
    width = file[path].shape[1:]
    _replace(
        file,
        path,
        dtype="f8",
        shape=(rows, *width),
        maxshape=(None, *width),
        chunks=(1024, *(max(w, 1) for w in width)),
    )


def many_columns(file, path, folder, draw):
    """A width that nothing is stored for."""
    _replace(file, path, dtype="f8", shape=(10, draw.choice([10**6, 10**9])), chunks=(1, 10**5), maxshape=(None, 10**9))


def inflating(file, path, folder, draw):
    """Zeros that deflate to a thousandth, as often as filters allow."""
    filters = draw.choice([{"compression": "gzip"}, {"compression": "lzf"}, {"compression": "gzip", "scaleoffset": 2}])
    rows = draw.choice([10**5, 2 * 10**6])
    _replace(file, path, data=np.zeros(rows), chunks=(10**5,), maxshape=(None,), **filters)


def large_text(file, path, folder, draw):
    """A text of many bytes, compressed."""
    name = draw.choice(["model/resolved", "config/resolved"])
    del file[name]
    made = file.create_dataset(name, shape=(1,), dtype=f"S{draw.choice([10**6, 10**8])}", chunks=(1,), compression=9)
    made[:] = b"x"


def text_of_any_length(file, path, folder, draw):
    """Texts whose length HDF5 learns while it reads."""
    del file["model/resolved"]
    file.create_dataset("model/resolved", data="{}", dtype=h5py.string_dtype())
    file.attrs["model_name"] = "any length"


def other_type(file, path, folder, draw):
    """References, records, texts, complex numbers."""
    data = draw.choice(
        [
            np.zeros(5, dtype=[("a", "f8"), ("b", "S5")]),
            np.zeros(5, dtype="c16"),
            np.full((5, 2), b"text"),
            np.zeros((3, 2, 2)),
            np.float64(3.0),
        ]
    )
    _replace(file, path, data=data)


def reference(file, path, folder, draw):
    """References to objects and regions."""
    made = _replace(file, path, shape=(5,), dtype=h5py.ref_dtype)
    made[:] = [file["time"].ref] * 5


def circle(file, path, folder, draw):
    """Groups in each other."""
    group = draw.choice(["derived", "state", "model/source", "solver", "input"])
    file.require_group(group)["again"] = file[group]


def same_twice(file, path, folder, draw):
    """One dataset under many names."""
    for k in range(draw.choice([3, 300])):
        file[f"derived/copy_{k}"] = file[path]


def missing(file, path, folder, draw):
    """A dataset, a group or an attribute that is not there."""
    names = []
    file.visit(names.append)
    name = draw.choice(names)
    if draw.random() < 0.5 and len(file[name].attrs):
        del file[name].attrs[draw.choice(list(file[name].attrs))]
    else:
        del file[name]


def other_attribute(file, path, folder, draw):
    """An attribute with another value."""
    names = []
    file.visit(names.append)
    place = file[draw.choice(names)] if draw.random() < 0.4 else file
    if not len(place.attrs):
        place = file
    name = draw.choice(sorted(place.attrs))
    values = [
        np.bytes_(b""),
        np.bytes_(b"\xff\xfe"),
        np.bytes_(b"[" * 5000),
        np.bytes_(b"[]"),
        np.bytes_(b"{}"),
        7,
        1e300,
    ]
    values += [np.zeros(3), np.int64(-1), np.bytes_(b'["mbcli","simulate","/etc/passwd"]'), np.array([b"a"] * 40)]
    place.attrs[name] = draw.choice(values)


def other_numbers(file, path, folder, draw):
    """Numbers that a log does not have."""
    paths = [name for name in ("contact/offset", "faces/offset", "faces/corner_offset", "time", path) if name in file]
    dataset = file[draw.choice(paths)]
    if dataset.shape and len(dataset):
        number = draw.choice([-1, 2**40, 2**62, 1e300, np.inf, np.nan, -np.inf, 0])
        if dataset.dtype.kind in "iu":
            known = np.iinfo(dataset.dtype)
            number = int(number) if np.isfinite(number) and known.min <= number <= known.max else 5
        dataset[draw.randrange(len(dataset))] = number


def other_command(file, path, folder, draw):
    """A command that asks for more than a log may."""
    secret = os.path.join(folder, "secret.csv")
    words = draw.choice(
        [
            [secret],
            ["--input", secret, "arm.urdf"],
            ["--xacro", secret],
            ["--config", secret, "arm.urdf"],
            ["--constraints", secret, "arm.urdf"],
            ["--package", f"x={folder}", "arm.urdf"],
            ["--state", secret, "arm.urdf"],
            ["--states", secret, "--each", "arm.urdf"],
            ["--srdf", secret, "arm.urdf"],
            ["-o", os.path.join(folder, "planted.h5"), "arm.urdf"],
            ["--scenario-text", f"directives: [{{add_model: {{name: a, file: {secret}}}}}]", "arm.urdf"],
            ["--help"],
            ["--resume", secret],
            ["-"],
            [],
        ]
    )
    import json

    file.attrs["argv"] = np.bytes_(json.dumps(["mbcli", "simulate", *words]))


HOSTILE = (
    external_link, soft_link, external_storage, virtual, many_rows, many_columns, inflating, large_text,
    text_of_any_length, other_type, reference, circle, same_twice, missing, other_attribute, other_numbers,
    other_command,
)  # fmt: skip


def spoiled(content, path, folder, seed):
    """Writes a damaged or hostile log made from the bytes of a good one; returns what was done to it."""
    draw = random.Random(seed)
    with open(path, "wb") as file:
        file.write(content)
    if draw.random() < 0.5:
        damage = draw.choice(DAMAGES)
        with open(path, "wb") as file:
            file.write(damage(content, draw))
        return damage.__name__
    edit = draw.choice(HOSTILE)
    with h5py.File(path, "r+") as file:
        found = []
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        rows = [name for name in found if name.partition("/")[0] in ("time", "state", "input", "derived", "solver")]
        others = [name for name in found if name not in rows and file[name].shape]
        try:
            edit(file, draw.choice(rows if draw.random() < 0.7 or not others else others), folder, draw)
        except (OSError, ValueError, TypeError, KeyError, RuntimeError):  # it does not fit that dataset
            return f"{edit.__name__}, not done"
    return edit.__name__


def commands(path, folder, slow=True):
    """Every command that reads a log, as words; slow: those too that start other processes or draw."""
    out = os.path.join(folder, "out")
    found = [
        ["log", "info", path],
        ["log", "info", path, "--json"],
        ["log", "show", path],
        ["log", "show", path, "--time", "0.1", "--json"],
        ["log", "show", path, "--world", "1"],
        ["log", "export", path, "--to", "csv", "-o", f"{out}.csv", "--force"],
        ["log", "export", path, "--to", "jsonl", "--fields", "contact,q", "-o", f"{out}.jsonl", "--force"],
        ["log", "export", path, "--to", "npz", "-o", f"{out}.npz", "--force"],
        ["log", "tail", path],
        ["log", "diff", path, os.path.join(folder, "good.h5")],
        ["log", "plot", path, "-o", f"{out}.svg", "--force"],
        ["log", "recover", path, "-o", f"{out}.h5", "--force"],
        ["log", "verify", path],
        ["replay", path, "-o", f"{out}.html", "--force"],
        ["simulate", "--resume", path, "-t", "0.3", "-o", f"{out}.resumed.h5", "--force"],
        ["energy", os.path.join(folder, "arm.urdf"), "--state", path],
        ["energy", os.path.join(folder, "arm.urdf"), "--states", path, "-o", f"{out}.e.csv", "--force"],
    ]
    return found if slow else [words for words in found if words[1] not in ("verify", "plot") and words[0] != "replay"]


def _as_stdin(content):
    """Lets this process read these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        os.dup2(file.fileno(), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)


def attempt(words, folder, stdin=b"", watched=None):
    """(outcome, what was printed, [s]) of a command in a forked process: its exit code, or "memory" or "time".

    watched: called in that process before the command.
    """
    shown = os.path.join(folder, "shown")
    start = time.monotonic()
    child = os.fork()
    if not child:
        code = 99
        try:
            descriptor = os.open(shown, os.O_CREAT | os.O_TRUNC | os.O_RDWR)
            for stream in (1, 2):
                os.dup2(descriptor, stream)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
            sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
            with open("/proc/self/statm") as statm:
                size = int(statm.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
            os.chdir(folder)
            from mbcli.cli import run

            _as_stdin(stdin)
            if watched is not None:
                watched()

            code = run(words)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > PATIENCE:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "time", "", time.monotonic() - start
        time.sleep(0.002)
    seconds = time.monotonic() - start
    with open(shown, "rb") as file:
        text = file.read()
    if b"not enough memory" in text or b"more than there is memory" in text:
        return "memory", text, seconds
    code = os.waitstatus_to_exitcode(status)
    return ("time" if code == -signal.SIGXCPU else code, text, seconds)
