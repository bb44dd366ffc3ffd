"""Findings that are accepted: a document of an earlier `mbcli check --json`, for `mbcli check --baseline`."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from mbcli.parsers.diagnostics import Diagnostic

_IDENTITY = ("severity", "code", "xpath", "attribute")


class Baseline:
    """Tells new findings from accepted ones: those of one file, severity, code, element and attribute, as often as
    they were there. Lines and messages may change."""

    def __init__(self, path: str) -> None:
        """ResourceError if the file cannot be read, ModelError if it is no whole document of a check."""
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except OSError as error:
            raise ResourceError(f"{path}: error: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise ModelError(f"{path}: error: it is not JSON: a baseline is what `mbcli check --json` wrote") from None
        if not isinstance(document, dict) or document.get("schema") != "mbcli/check":
            raise ModelError(f"{path}: error: it is no result of `mbcli check --json`")
        left_out = document.get("findings_left_out")
        if left_out:
            raise ModelError(f"{path}: error: {left_out} findings are not in it: write it with a larger --max-findings")
        try:
            self._left = Counter(_key(finding) for finding in document["findings"])
        except (KeyError, TypeError, AttributeError):
            raise ModelError(f"{path}: error: its findings are not those of `mbcli check --json`") from None
        self.accepted = 0

    def accepts(self, finding: Diagnostic) -> bool:
        """Whether a finding is one of those accepted, each of which counts once."""
        key = _key(finding.as_dict())
        if not self._left[key]:
            return False
        self._left[key] -= 1
        self.accepted += 1
        return True

    def gone(self) -> int:
        """The number of accepted findings that were not found again."""
        return sum(self._left.values())


def _key(finding: Any) -> tuple[Any, ...]:
    return (os.path.normpath(finding["file"]), *(finding[name] for name in _IDENTITY))
