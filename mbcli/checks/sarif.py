"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a file.

Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from mbcli import __version__
from mbcli.parsers.checks.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mbcli.parsers.diagnostics import Diagnostic
    from mbcli.parsers.spec import SourceLocation

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_log(
    findings: Sequence[Diagnostic], sources: Sequence[Mapping[str, str]], *, all_shown: bool = True
) -> dict[str, Any]:
    """A SARIF log (JSON values) of `Diagnostic`s.

    sources: [{"path", "sha256"}] of the files that were read. all_shown: False if findings were left out.
    """
    codes = list(dict.fromkeys(finding.code for finding in findings))
    index = {code: k for k, code in enumerate(codes)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "mbcli", "version": __version__, "rules": [_rule(code) for code in codes]}},
                "columnKind": "unicodeCodePoints",
                "artifacts": [
                    {"location": {"uri": _uri(source["path"])}, "hashes": {"sha-256": source["sha256"]}}
                    for source in sources
                ],
                "invocations": [{"executionSuccessful": all_shown}],
                "results": [_result(finding, index[finding.code]) for finding in findings],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    meaning = CODES[code].meaning if code in CODES else code.replace("_", " ").lower()
    return {"id": code, "shortDescription": {"text": meaning}}


def _result(finding: Diagnostic, rule_index: int) -> dict[str, Any]:
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": finding.severity,  # error, warning and note are SARIF's own words
        "message": {"text": f"{finding.message}; {finding.hint}" if finding.hint else finding.message},
        "locations": [_location(finding.place, finding.xpath)],
    }
    if finding.related:
        result["relatedLocations"] = [_location(place) for place in finding.related]
    return result


def _location(place: SourceLocation, xpath: str | None = None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        physical["region"] = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    location: dict[str, Any] = {"physicalLocation": physical}
    if xpath is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": xpath, "kind": "element"}]
    return location


def _uri(path: str) -> str:
    """A relative reference, or a file URI of an absolute path."""
    path = quote(os.fspath(path).replace(os.sep, "/"), safe="/", errors="surrogateescape")
    return f"file://{path}" if path.startswith("/") else path
