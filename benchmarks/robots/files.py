"""Which robot files folders have: each content once."""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mbcli.parsers.file_format import format_of

from mbcli.errors import ModelError

FORMATS = ("urdf", "sdf", "mjcf", "usd", "xacro")
FORMAT_OF_SUFFIX = {".urdf": "urdf", ".sdf": "sdf", ".world": "sdf", ".mjcf": "mjcf", ".xacro": "xacro"}
FORMAT_OF_SUFFIX |= dict.fromkeys((".usd", ".usda", ".usdz"), "usd")
LAYERS = ("payload", "payloads")  # folders of files that others are composed of
LARGEST = 64 * 2**20  # [bytes]

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class RobotFile:
    """A file that may be a robot.

    Attributes:
        path: where it is.
        folder: the folder that was given, in which packages are looked for.
        format: one of FORMATS; "xacro" for URDF with macros, whatever its suffix.
        sha256: of its content.
    """

    path: Path
    folder: Path
    format: str
    sha256: str

    @property
    def origin(self):
        """The name of the given folder."""
        return self.folder.name

    @property
    def name(self):
        """The path within the folder that holds the given one."""
        return str(self.path.relative_to(self.folder.parent))


def robot_files(folders, formats=FORMATS, only="", skip=()):
    """(RobotFiles with different content, {origin: number of files}) of folders, in the order of their names.

    only: what a path must contain. skip: texts that it must not.
    """
    found, seen, counts = [], set(), Counter()
    for folder in folders:
        folder = Path(folder).resolve()
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder.parent))
            if only not in name or any(text in name for text in skip) or not _may_be_a_robot(path):
                continue
            content = path.read_bytes()
            file_format = _format(path, content)
            if file_format not in formats:
                continue
            counts[folder.name] += 1
            file = RobotFile(path, folder, file_format, hashlib.sha256(content).hexdigest())
            if (file.format, file.sha256) not in seen:
                seen.add((file.format, file.sha256))
                found.append(file)
    return found, dict(counts)


def _may_be_a_robot(path):
    suffix = path.suffix.lower()
    if suffix not in FORMAT_OF_SUFFIX and suffix != ".xml":
        return False
    if any(part.lower() in LAYERS for part in path.parts):
        return False
    return path.is_file() and path.stat().st_size <= LARGEST


def _format(path, content):
    """One of FORMATS, or None for XML files of other kinds."""
    file_format = FORMAT_OF_SUFFIX.get(path.suffix.lower())
    if file_format is None:
        try:
            file_format = format_of(content, str(path))
        except ModelError:
            return None
    if file_format == "urdf" and b"<xacro:" in _COMMENT.sub(b"", content):
        return "xacro"
    return file_format
