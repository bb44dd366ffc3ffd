"""What lines of numbers look like, and where reading them is (engine/text/number_rows.py)."""

# the array of a plan: its own entries, then GROUP_SIZE entries for each group of numbers in a line
PLAN_SEPARATOR = 0  # a character
PLAN_BLANK = 1  # a character that may stand around numbers, as spaces may
PLAN_STRICT = 2  # 1: numbers as JSON has them, 0: also +1, 01, 1. and .5
PLAN_GROUPS = 3  # how many
PLAN_END = 4
GROUP_MARK = 0  # first character of the text before the group, among those of all marks
GROUP_MARK_SIZE = 1
GROUP_COUNT = 2  # numbers
GROUP_COLUMN = 3  # of the first one
GROUP_SIZE = 4

# a place: the start of a line in a text, and the row of its numbers
PLACE_TEXT, PLACE_ROW = 0, 1
