"""The lines of each room in docs/explanation/architecture.md: `python tests/support/room_sizes.py` writes them anew."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from repository import ROOT

PAGE = ROOT / "docs" / "explanation" / "architecture.md"
HEADER = "| room | lines | contents |\n|---|--:|---|\n"


def rows():
    """(rooms, lines that the page states, what it says of them) of each row of its table."""
    table = re.search(re.escape(HEADER) + r"(.*?)\n\n", PAGE.read_text(), re.DOTALL)[1]
    for row in table.splitlines():
        _, rooms, lines, contents, _ = re.split(r"(?<!\\)\|", row)
        yield tuple(re.findall(r"`([^`]+)`", rooms)), int(lines.replace(",", "")), contents.strip()


def lines_of_rooms(modules, room_of):
    """{room: lines of its files}; modules: {name: path}, room_of: name -> room."""
    found = {}
    for name, path in modules.items():
        found[room_of(name)] = found.get(room_of(name), 0) + path.read_text().count("\n")
    return found


def main():
    sys.path.insert(0, str(ROOT / "tests" / "project"))
    from test_layers import MODULES, room_of

    sizes = lines_of_rooms(MODULES, room_of)
    text, start = PAGE.read_text(), PAGE.read_text().index(HEADER) + len(HEADER)
    end = text.index("\n\n", start)
    table = [
        f"| {', '.join(f'`{room}`' for room in rooms)} | {sum(sizes[room] for room in rooms):,} | {contents} |"
        for rooms, _, contents in rows()
    ]
    PAGE.write_text(text[:start] + "\n".join(table) + text[end:])
    print(f"{sum(sizes.values()):,} lines in {len(sizes)} rooms")


if __name__ == "__main__":
    main()
