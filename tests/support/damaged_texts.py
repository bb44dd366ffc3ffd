"""Texts and bytes of model files with a few things wrong in each."""

import re

NASTY = (
    *("nan", "inf", "-1", "0", "2", "0.3", "-7", "1e308", "-1e308", "1e-320", "(1, 2)", "[]", "</>", "@x@"),
    "9" * 400,
)
USD_TOKENS = r"\"[^\"]*\"|<[^>]*>|[-+.\deE]+|\s+|\w+|."
XML_TOKENS = r"[-+]?\.?\d[-+.\deE]*|\s+|\w+|."  # numbers in quotes by themselves


def damaged_text(text, draw, tokens=USD_TOKENS):
    """The bytes of a text with one to three tokens exchanged, doubled or gone. draw: a random.Random."""
    tokens = re.findall(tokens, text)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(tokens))
        kind = draw.choice(("number", "number", "number", "number", "name", "delete", "double", "swap"))
        if kind == "number":
            numbers = [k for k, token in enumerate(tokens) if re.fullmatch(r"[-+.\deE]*\d[-+.\deE]*", token)]
            if numbers:
                tokens[draw.choice(numbers)] = draw.choice(NASTY)
        elif kind == "name":
            names = [k for k, token in enumerate(tokens) if re.match(r"<|\"|[a-z]\w+$", token)]
            tokens[draw.choice(names)] = tokens[draw.choice(names)]
        elif kind == "delete":
            del tokens[at]
        elif kind == "double":
            tokens.insert(at, tokens[at])
        else:
            other = draw.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens).encode()


def damaged_bytes(content, draw):
    """Bytes of which some are others, or the end is gone."""
    changed = bytearray(content)
    if draw.random() < 0.1:
        return bytes(changed[: draw.randrange(len(changed))])
    for _ in range(draw.randint(1, 3)):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)
