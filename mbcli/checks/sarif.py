"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a file.

Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/
"""

import os
from urllib.parse import quote

from mbcli import __version__
from mbcli.parsers.checks.codes import CODES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_log(findings, sources, *, all_shown=True):
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


def _rule(code):
    meaning = CODES[code].meaning if code in CODES else code.replace("_", " ").lower()
    return {"id": code, "shortDescription": {"text": meaning}}


def _result(finding, rule_index):
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


def _location(place, xpath=None):
    physical = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        physical["region"] = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    location = {"physicalLocation": physical}
    if xpath is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": xpath, "kind": "element"}]
    return location


def _uri(path):
    """A relative reference, or a file URI of an absolute path."""
    path = quote(os.fspath(path).replace(os.sep, "/"), safe="/", errors="surrogateescape")
    return f"file://{path}" if path.startswith("/") else path
