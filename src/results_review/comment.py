"""The comment in GitHub's Markdown: what changed in the results, most important first, and why."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from results_review.compare import Comparison
from results_review.smoke import Trial
from results_review.stages import Change, kind

# By which the workflow finds its own comment again.
MARKER = "<!-- results-review -->"
# Reasons beside a stage; rows of a table that is not folded away; characters that GitHub takes of a comment.
REASONS, ROWS, LIMIT = 5, 40, 65_536
CUT = "\n\n**Cut here: a comment on GitHub holds no more.**\n"


@dataclass(frozen=True)
class Block:
    """A part of the comment; one with a title is folded away under it."""

    text: str
    title: str = ""

    def __str__(self) -> str:
        if not self.title:
            return self.text
        return f"<details><summary>{self.title}</summary>\n\n{self.text}\n\n</details>"


def comment(found: Comparison, base: str, commit: str, trial: Trial | None = None, limit: int = LIMIT) -> str:
    """Return the whole comment; one that is too long loses what is folded away, the last first, and then its end.

    `base`: the revision to compare with, as the user names it, and `commit`, where HEAD left it.
    """
    blocks = [block for block in _blocks(found, base, commit, trial) if block.text]
    for place in reversed([place for place, block in enumerate(blocks) if block.title]):
        if len(_joined(blocks)) <= limit:
            break
        blocks[place] = Block(f"_{blocks[place].title}: left out, because a comment on GitHub holds no more._")
    text = _joined(blocks)
    return text if len(text) <= limit else text[: limit - len(CUT)].rpartition("\n")[0] + CUT


def _blocks(found: Comparison, base: str, commit: str, trial: Trial | None) -> Iterable[Block]:
    yield Block(f"{MARKER}\n## {_headline(found)}\n\nCompared with `{base}` ({commit[:12]}).")
    if found.stale:
        yield Block(
            "> [!WARNING]\n> **The results are not those of this tree**: run `dvc repro` and commit what it changes. "
            "These stages differ from what `dvc.lock` records (those that depend on them are not named):\n"
            + "\n".join(f"> - {_named(group)}: {_few(group[0].reasons)}" for group in _grouped(found.stale))
        )
    if trial and trial.tree.failure:
        before = ", and so does the base's" if trial.base.failure else ""
        yield Block(f"> [!CAUTION]\n> **The smoke run fails**{before}: see the end of this comment.")
    yield _section("Parameters", found.parameters)
    yield _section("Verdicts", _verdicts(found.flips))
    yield _section("Metrics", found.metrics)
    yield Block(found.details, f"{_count(_rows(found.details), 'number')} of other result files")
    if found.figures:
        names = ", ".join(f"`{path}`" for path in found.figures)
        yield Block(f"### Figures\n\n{names}. `dvc plots diff {commit[:12]}` shows both.")
    yield Block(f"### Stages\n\n{_stages(found.changes) or 'None ran.'}")
    outputs = [path for change in found.changes for path, differs in change.outputs.items() if differs]
    yield Block("\n".join(f"- `{path}`" for path in outputs), f"{_count(len(outputs), 'output')} changed")
    if trial:
        yield from _smoke(trial)


def _smoke(trial: Trial) -> Iterable[Block]:
    untried = ", ".join(f"`{key}`" for key in trial.untried)
    yield Block(
        "### At smoke scale\n\nTiny models, made at both states, the tree's upon the base's results: they tell whether "
        "it works and what runs; their numbers mean nothing else."
        + (f" Not tried, because that scale has its own values: {untried}." if untried else "")
    )
    for name, run in (("The base", trial.base), ("This tree", trial.tree)):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", run.failure)), default=0))
        fails = f" **fails**:\n\n{fence}text\n{run.failure}\n{fence}"
        yield Block(name + (fails if run.failure else f": {_count(run.stages, 'stage')} ran, none failed."))
    found = trial.comparison
    yield Block(_stages(found.changes))
    for table, thing in ((_verdicts(found.flips), "verdict"), (found.metrics, "metric"), (found.details, "number")):
        yield Block(table, f"{_count(_rows(table), thing)} changed at smoke scale")


def _headline(found: Comparison) -> str:
    numbers = (_rows(found.metrics), "metric"), (_rows(found.details), "other number")
    things = ((len(found.flips), "verdict"), *numbers, (len(found.figures), "figure"))
    changed = " and ".join(", ".join(_count(*one) for one in things if one[0]).rsplit(", ", 1))
    ran = sum(change.kind != "gone" for change in found.changes)
    stages = ", ".join(
        f"{_count(n, 'stage')} {what}" for n, what in ((ran, "ran"), (len(found.stale), "yet to run")) if n
    )
    return "; ".join(filter(None, [f"{changed} changed" if changed else "No result changes", stages]))


def _verdicts(flips: Sequence[Sequence[str]]) -> str:
    return _table(("claim", "where", "verdict", "ours"), [[_prose(cell) for cell in row] for row in flips])


def _stages(changes: Iterable[Change]) -> str:
    """Return a row a group of stages: which, why, and how many of their outputs differ."""
    rows = []
    for group in _grouped(changes):
        differ = list(chain.from_iterable(change.outputs.values() for change in group))
        outputs = f"{sum(differ)} of {len(differ)} changed" if group[0].kind == "ran" else ""
        why = (_few(group[0].reasons) or "the same inputs") if group[0].kind == "ran" else group[0].kind
        rows.append((_named(group), why, outputs))
    return _table(("stage", "because of", "outputs"), rows)


def _grouped(changes: Iterable[Change]) -> list[list[Change]]:
    """Return the stages of one name in dvc.yaml to which the same happened for the same reasons together."""
    groups: dict[object, list[Change]] = {}
    for change in changes:
        groups.setdefault((kind(change.stage), change.kind, change.reasons), []).append(change)
    return list(groups.values())


def _named(group: Sequence[Change]) -> str:
    return f"`{group[0].stage}`" if len(group) == 1 else f"`{kind(group[0].stage)}` × {len(group)}"


def _few(reasons: Sequence[str]) -> str:
    more = len(reasons) - REASONS
    return ", ".join(reasons[:REASONS]) + (f" and {more} more" if more > 0 else "")


def _section(title: str, table: str) -> Block:
    """Return a table under a heading, folded away where it is long; nothing without a table."""
    if _rows(table) > ROWS:
        return Block(table, f"{title}: {_rows(table)} rows")
    return Block(f"### {title}\n\n{table}" if table else "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]) if rows else ""


def _rows(table: str) -> int:
    return max(0, table.count("\n") - 1)


def _prose(text: str) -> str:
    """Escape words of others: nothing in them is markup or a mention."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@<!-- -->")
    return re.sub(r"([\\`*_\[\]~|])", r"\\\1", text)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _joined(blocks: Iterable[Block]) -> str:
    return "\n\n".join(map(str, blocks)) + "\n"
