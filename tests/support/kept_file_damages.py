"""Damages files that are kept for the next run, and computes with them; run as a program (test_kept_files.py).

Each time a process of its own, forked from one that has imported everything and loaded nothing, takes a copy of the
cache in which some files are damaged. It has to end, to compute the same bits, and to leave whole files.

usage: python tests/support/kept_file_damages.py FOLDER SEED COUNT
"""

import faulthandler
import os
import shutil
import signal
import sys
import traceback
from dataclasses import fields
from pathlib import Path

import numpy as np
from repository import SAMPLES

from mbcli.common.kept_files import read_kept
from mbcli.common.numba_start import import_numba
from mbcli.engine import load_kernels
from mbcli.engine.runtime import kernel_cache
from mbcli.meshes.collision_hulls import hulls_of_file
from mbcli.models import load_model
from mbcli.multibody.plant import StateFunctions
from mbcli.multibody.tree import BodyIndex

import_numba()
from mbcli.engine.runtime.whole_programs import program  # noqa: E402  (not before numba)

ROBOT = SAMPLES / "arm7.urdf"
LONGEST = 300  # [s]
SUFFIXES = {".code", ".told", ".nbi", ".nbc", ".arrays"}
AT_ONCE = 3  # files that are damaged for one process


def imported_plant():
    """A plant, after everything is imported and made that does not depend on what is kept."""
    plant, kernels = load_model(ROBOT).plant, load_kernels(True)
    load_kernels(True, "plain")
    for name in ("normalized", "cross", "dot"):
        kernels.source(name)[1]()
    kernel_cache.shared_hash()
    program(zero)(1.0)
    return plant


def zero(x):
    return 0.0 * x


def bits_of_results(plant, mesh):
    """What kept kernels and kept hulls give."""
    kernels, q = load_kernels(True), np.linspace(0.1, 0.7, plant.num_positions())
    found = [StateFunctions(plant).pose(plant.get_body(BodyIndex(4)).body_frame())(q)]
    x = (1.0, 0.2, 0.3)
    found += [np.array(a) for a in (kernels.normalized(x, x), kernels.cross(x, (0.3, 0.1, 0.7)), kernels.dot(x, x))]
    hulls = hulls_of_file(mesh)
    found += [array for hull in hulls.hulls for array in _arrays_of(hull)]
    return b"".join(array.tobytes() for array in found)


def _arrays_of(hull):
    return [np.ascontiguousarray(getattr(hull, field.name)) for field in fields(hull)]


def in_a_child(cache, plant, mesh):
    """(bits, what it wrote to stderr, how it ended) of a forked process with that cache."""
    reads, writes = os.pipe()
    errors = cache.parent / "stderr"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            faulthandler.enable()
            signal.alarm(LONGEST)
            os.environ["MBCLI_CACHE_DIR"] = str(cache)
            with os.fdopen(writes, "wb") as file:
                file.write(bits_of_results(plant, mesh))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads, "rb") as file:
        bits = file.read()
    _, status = os.waitpid(child, 0)
    return bits, errors.read_text(), os.waitstatus_to_exitcode(status)


def flip_a_bit(path, others, rng):
    content = bytearray(path.read_bytes())
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    path.write_bytes(content)


def write_noise(path, others, rng):
    content = bytearray(path.read_bytes())
    start = rng.integers(max(1, len(content) - 16))
    content[start : start + 16] = rng.bytes(16)
    path.write_bytes(content)


def write_zeros(path, others, rng):
    content = bytearray(path.read_bytes())
    start = rng.integers(len(content) - 1)
    end = rng.integers(start + 1, len(content) + 1)
    content[start:end] = bytes(end - start)
    path.write_bytes(content)


def cut(path, others, rng):
    os.truncate(path, rng.integers(path.stat().st_size))


def append(path, others, rng):
    path.write_bytes(path.read_bytes() + rng.bytes(int(rng.integers(1, 100))))


def make_empty(path, others, rng):
    os.truncate(path, 0)


def take_away(path, others, rng):
    path.unlink()


def exchange(path, others, rng):
    other = others[rng.integers(len(others))]
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


def put_a_folder(path, others, rng):
    path.unlink()
    path.mkdir()


DAMAGES = (flip_a_bit, write_noise, write_zeros, cut, append, make_empty, take_away, exchange, put_a_folder)


def kept_in(cache):
    return sorted(path for path in cache.rglob("*") if path.suffix in SUFFIXES)


def main(folder, seed, count):
    plant = imported_plant()
    folder = Path(folder)
    whole, mesh = folder / "whole", folder / "brick.obj"
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    mesh.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces))
    expected, said, code = in_a_child(whole, plant, mesh)
    assert (said, code) == ("", 0), said
    files = kept_in(whole)
    assert {path.suffix for path in files} == SUFFIXES
    faults, done, number = [], 0, 0
    while done < count:
        number += 1
        rng = np.random.default_rng((seed, number))
        damaged = folder / "damaged"
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(whole, damaged)
        here = kept_in(damaged)
        chosen = [here[k] for k in rng.permutation(len(here))[: min(AT_ONCE, count - done)]]
        names = []
        for path in chosen:
            damage = DAMAGES[done % len(DAMAGES)]
            damage(path, [other for other in here if other not in chosen], rng)
            names.append(f"{damage.__name__} {path.name}")
            done += 1
        bits, said, code = in_a_child(damaged, plant, mesh)
        mended = all(path.is_dir() or read_kept(path) is not None for path in here)
        if (bits, said, code, mended) != (expected, "", 0, True):
            faults.append(f"{names}: ended {code}, same bits {bits == expected}, mended {mended}: {said[-900:]}")
            print(faults[-1], file=sys.stderr, flush=True)
    print("done", done, "damages,", len(faults), "faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
