"""Where results go: a file that is complete or not there, a pipe, a device, stdout."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from typing import IO

from mbcli.batch import BINARY_FORMATS
from mbcli.common.argument_names import argument
from mbcli.common.output_files import new_file
from mbcli.common.write_errors import reason_of_system
from mbcli.errors import OutputError

STANDARD_OUTPUT = ("-", "/dev/stdout")


class Output:
    """A binary stream that is completed by commit or given up by abort."""

    stream: IO[bytes]
    name: str
    directory: str | None = None

    def never_waits(self) -> bool:
        """Whether a write ends by itself: to a file, not to a pipe or device."""
        return False

    def commit(self) -> None:
        """Completes the output."""
        raise NotImplementedError

    def abort(self) -> None:
        """Leaves nothing of it, if that can be."""
        raise NotImplementedError

    def flush(self) -> None:
        self.stream.flush()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Names the output in errors of the system; a closed pipe is the caller's to handle."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self.name}: error: cannot be written: {reason_of_system(error)}") from None


class _StandardOutput(Output):
    def __init__(self) -> None:
        sys.stdout.flush()
        self.stream = sys.stdout.buffer
        self.name = "<stdout>"

    def never_waits(self) -> bool:
        try:
            return stat.S_ISREG(os.fstat(self.stream.fileno()).st_mode)
        except (OSError, ValueError):  # not a stream of the system
            return False

    def commit(self) -> None:
        self.flush()

    def abort(self) -> None:
        pass


class _Device(Output):
    """A pipe or device that has a name in the file system; it is not replaced but written to."""

    def __init__(self, path: str) -> None:
        self.name = path
        with self.errors():
            self.stream = open(path, "wb")  # noqa: SIM115

    def commit(self) -> None:
        self.stream.close()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()


class _File(Output):
    """A file under a temporary name beside its own, which it gets by commit."""

    def __init__(self, path: str, force: bool) -> None:
        self.name = path
        self._force = force
        self._path = os.path.abspath(path)
        self.directory = os.path.dirname(self._path)
        self._refuse_existing()
        with self.errors():
            descriptor, self._temporary = new_file(self._path)
            self.stream = os.fdopen(descriptor, "w+b")

    def never_waits(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def commit(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
        self._refuse_existing()
        os.replace(self._temporary, self._path)

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        with contextlib.suppress(OSError):
            os.unlink(self._temporary)

    def _refuse_existing(self) -> None:
        if os.path.isdir(self._path):
            raise OutputError(f"{self.name}: error: is a directory")
        if not self._force and os.path.lexists(self._path):
            raise OutputError(f"{self.name}: error: exists already; {argument('force', True)} overwrites it")


class _Spooled(Output):
    """Collects in an unnamed temporary file the bytes that a pipe or device gets at the end: they cannot seek."""

    def __init__(self, target: Output) -> None:
        import tempfile

        self.name, self._target = target.name, target
        self.stream = tempfile.TemporaryFile()  # noqa: SIM115

    def never_waits(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def commit(self) -> None:
        self.stream.seek(0)
        shutil.copyfileobj(self.stream, self._target.stream)
        self.stream.close()
        self._target.commit()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        self._target.abort()


def output_of(path: str | None, format: str, force: bool) -> Output:
    if path is not None and (os.path.isdir(path) or os.path.isfile(path) or not os.path.exists(path)):
        return _File(path, force)
    output: Output = _StandardOutput() if path is None else _Device(path)
    return _Spooled(output) if format in BINARY_FORMATS else output
