"""GitHub's Markdown: code, tables, what is folded away, and a comment that is not too long."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What GitHub takes of a comment, in characters.
LIMIT = 65_536
CUT = "\n\n**Cut here: a comment on GitHub holds no more.**\n"


@dataclass(frozen=True)
class Block:
    """A part of a comment; one with a title is folded away under it."""

    text: str
    title: str = ""

    def markdown(self) -> str:
        """As it stands in the comment."""
        if not self.title:
            return self.text
        return f"<details><summary>{self.title}</summary>\n\n{self.text}\n\n</details>"


def code(value: object) -> str:
    """A value as code, whatever is in it, on one line."""
    text = " ".join(str(value).split()) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """Words of others, as words: nothing in them is markup, a mention or a link of its own."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]~])", r"\\\1", text).replace("@", "@<!-- -->")


def listing(lines: Iterable[str]) -> str:
    """Lines as they are, in a block of code that nothing in them ends."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table; the columns `right`, counted from 0, are of numbers."""
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in [head, rule, *rows])


def count(number: int, thing: str) -> str:
    """`1 stage`, `2 stages`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def both(things: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(things[:-1]), *things[-1:]]))


def few(things: Sequence[str], most: int) -> str:
    """The first things, and how many more there are."""
    return ", ".join(things[:most]) + (f" and {len(things) - most} more" if len(things) > most else "")


def comment(blocks: Iterable[Block], limit: int = LIMIT) -> str:
    """All blocks; where they are too long, folded ones are left out, the last first, and it says so; then it is cut."""
    kept = list(blocks)
    for place in reversed([place for place, block in enumerate(kept) if block.title]):
        if len(_joined(kept)) <= limit:
            break
        left_out = f"_{kept[place].title}: left out, because a comment on GitHub would be too long with it._"
        kept[place] = Block(left_out)
    text = _joined(kept)
    if len(text) <= limit:
        return text
    return text[: limit - len(CUT)].rpartition("\n")[0] + CUT


def _joined(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
