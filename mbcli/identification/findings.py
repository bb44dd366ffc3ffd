"""What measured data show of themselves, units, signs, gaps, and results, each with its evidence and its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CODES = {
    "DATA_GAP": "warning",
    "DATA_CONSTANT": "warning",
    "DATA_DEAD": "error",
    "DATA_UNITS": "error",
    "DATA_SIGN": "error",
    "DATA_SWAPPED": "error",
    "DATA_LAG": "error",
    "DATA_LOAD": "error",
    "DATA_GRAVITY": "error",
    "DATA_SATURATED": "warning",
    "DATA_COUPLED": "warning",
    "DATA_BODIES": "warning",
    "DATA_LIMITS": "warning",
    "DATA_UNCHECKED": "warning",
    "DATA_HELD": "note",
    "DATA_SILENT": "note",
    "DATA_CARRIED": "note",
    "DATA_WEIGHTS": "note",
    "RESULT_POOR": "error",
    "RESULT_WORSE": "error",
    "RESULT_FILE": "error",
    "RESULT_JOINT": "error",
    "RESULT_MASS": "error",
    "RESULT_DENSE": "error",
    "RESULT_UNKNOWN": "warning",
    "RESULT_SMALL": "warning",
    "RESULT_STANDS": "warning",
    "MODEL_MASSLESS": "warning",
    "MODEL_PLACE": "note",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or worth knowing, at a line of a file (0: of the file, or the model, as a whole)."""

    code: str
    message: str
    file: str
    line: int = 0
    column: str = ""

    @property
    def severity(self) -> str:
        return CODES[self.code]

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        column = f"column '{self.column}': " if self.column else ""
        return f"{place}: {self.severity}: {column}{self.message} [{self.code}]"

    def document(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.line or None,
            "column": self.column or None,
        }
