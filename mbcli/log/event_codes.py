"""Codes of events of logs that readers ask for."""

ACTED_ON_PAGE = "acted_on_page"  # somebody steered the run by hand: its command does not repeat it
