"""Strings that make a regular expression try again and again: what it repeats, repeated, and then a text that fails.

They come from the parsed pattern: a beginning that leads to one of its parts, a sample of some of its parts many
times, an end.
"""

import functools
import itertools
import random
import re
import time
from re import _compiler, _constants as codes, _parser as parser

ENDS = ("", "\0", "x", "<", "\n")
ORDERS = (" \ta0\"'<>=/", "a0_- \"'<>", "\"'<!-[(=:/. a0")  # which character a class of them is represented by, first
MOST_PAIRS = 250
MOST = 2500  # attacks on a pattern


@functools.cache
def _representative(kind, value, order):
    """A character that a class matches."""
    one = _compiler.compile(parser.SubPattern(parser.State(), [(kind, list(value) if kind is codes.IN else value)]))
    return next((c for c in [*order, *map(chr, range(33, 127)), "\n"] if one.match(c)), "a")


def _character(kind, value, order):
    return _representative(kind, tuple(value) if kind is codes.IN else value, order)


def sample(sequence, order):
    """A text that a sequence of parts of a parsed pattern matches, nearly: without what looks ahead."""
    text = ""
    for kind, value in sequence:
        if kind is codes.LITERAL:
            text += chr(value)
        elif kind in (codes.IN, codes.ANY, codes.NOT_LITERAL):
            text += _character(kind, value, order)
        elif kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            text += sample(value[2], order) * max(value[0], 1)
        elif kind is codes.SUBPATTERN:
            text += sample(value[3], order)
        elif kind is codes.ATOMIC_GROUP:
            text += sample(value, order)
        elif kind is codes.BRANCH:
            text += sample(value[1][0], order)
    return text


def _inner(kind, value):
    """The sequences that a part holds."""
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is codes.SUBPATTERN:
        return [value[3]]
    if kind is codes.ATOMIC_GROUP:
        return [value]
    return value[1] if kind is codes.BRANCH else []


def _windows(sequence, before, order):
    """(what leads there, sample) of all runs of neighbouring parts, at every depth."""
    parts = list(sequence)
    for first in range(len(parts)):
        lead = before + sample(parts[:first], order)
        for last in range(first + 1, len(parts) + 1):
            yield lead, sample(parts[first:last], order)
        for inner in _inner(*parts[first]):
            yield from _windows(inner, lead, order)


def _letters(sequence):
    """The characters that a pattern names, and one of each of its classes."""
    for kind, value in sequence:
        if kind is codes.LITERAL:
            yield chr(value)
        elif kind in (codes.IN, codes.ANY, codes.NOT_LITERAL):
            yield from (_character(kind, value, order) for order in ORDERS)
        for inner in _inner(kind, value):
            yield from _letters(inner)


def attacks(pattern):
    """[(beginning, what is repeated, end)] of a compiled pattern."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(text, pattern.flags & (re.VERBOSE | re.IGNORECASE | re.DOTALL | re.MULTILINE))
    found = {}
    leads = {"": None}
    for order in ORDERS:
        for lead, part in _windows(tree, "", order):
            leads[lead] = None
            for start in dict.fromkeys((lead, "")):
                found.update(dict.fromkeys((start, part, end) for end in ENDS if part))
    letters = list(dict.fromkeys(_letters(tree)))
    pairs = ["".join(pair) for pair in itertools.islice(itertools.product(letters, letters), MOST_PAIRS)]
    for lead in leads:
        found.update(dict.fromkeys((lead, letter, end) for letter in letters for end in ENDS))
    found.update(dict.fromkeys((lead, pair, end) for pair in pairs for lead in list(leads)[:4] for end in ENDS[:3]))
    kept = list(found)
    random.Random(len(kept)).shuffle(kept)
    return kept[:MOST]


def hostile(attack, size):
    """The text of an attack with about `size` characters repeated."""
    lead, part, end = attack
    return lead + part * max(size // len(part), 1) + end


def seconds(function, text):
    """The processor time [s] of a call."""
    start = time.process_time()
    function(text)
    return time.process_time() - start
