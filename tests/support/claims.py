"""The claims of documents: sentences of the README, texts of help, and the rows that show them.

The rows stand in docs/reference/claims.md.
"""

import re
from typing import NamedTuple

from repository import ROOT

PAGE = ROOT / "docs" / "reference" / "claims.md"
CODE = re.compile(r"`([^`]+)`")
# the README's list of documents claims nothing; test_documents.py looks whether they are there
UNCLAIMED = ("I want to",)
# documents whose sentences are all claims; their sections have these titles
CLAIMED = {
    "README": "README.md",
    "What commands give": "docs/reference/commands/index.md",
    "Put a robot on the ground": "docs/how-to/robot_on_the_ground.md",
}


class Claim(NamedTuple):
    """A row: the words that claim, how they are shown, and what the command prints or gives as exit code."""

    words: str
    shown_by: str
    shows: str

    @property
    def command(self):
        """The command that shows it and is run, or None: a test, or what a test does not run."""
        found = CODE.fullmatch(self.shown_by)
        return found[1] if found and found[1].startswith(("mbcli ", "echo ", "printf ")) else None

    @property
    def tests(self):
        """(file, name or "") of the tests that show it."""
        return re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", self.shown_by)

    @property
    def printed(self):
        return CODE.findall(self.shows)

    @property
    def exit_code(self):
        found = re.search(r"exit code (\d+)", self.shows)
        return int(found[1]) if found else 0


def cells_of(line):
    """The cells of a row of a table; a bar in a cell is written \\|."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def sections():
    """{title: [Claim]} of docs/reference/claims.md."""
    found, title = {}, ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| ") and not line.startswith(("| claim", "|---")):
            found.setdefault(title, []).append(Claim(*cells_of(line)))
    return found


def units(text):
    """What a document says: its sentences and the rows of its tables, without headings, code, pictures and links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"(?<!!)\[((?:[^\]`]|`[^`]*`)+)\]\([^)\s]+\)", r"\1", text)
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line and not line.startswith(("#", "    ", "!["))]
        if lines and lines[0].startswith("|"):
            if cells_of(lines[0])[0] not in UNCLAIMED:
                yield from (": ".join(filter(None, cells_of(line))) for line in lines[2:])
            continue
        for item in re.split(r"^- ", "\n".join(lines), flags=re.M):
            words = " ".join(item.split())
            yield from (part for part in re.split(r"(?<=[.])\s+(?=[A-Z`(*])", words) if part)
