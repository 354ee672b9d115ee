"""The parts of the comment: verdicts, numbers, files and stages that differ, as tables and lists."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from vanishing_variance.review.differing import figures, others
from vanishing_variance.review.facts import Facts
from vanishing_variance.review.flips import Claims, Flip
from vanishing_variance.review.lock import Change, grouped, kind
from vanishing_variance.review.markdown import Block, code, count, few, prose, table
from vanishing_variance.review.pairs import Pair, split

# Rows of numbers that are not folded away.
ROWS = 40
# Reasons that stand beside a stage.
FEW = 5


def verdicts(claims: tuple[Claims | None, Claims | None], flipped: Sequence[Flip]) -> list[Block]:
    """The changed verdicts; that there are none, or none to compare with; nothing where no state has any."""
    before, after = claims
    if before is None and after is None:
        return []
    if before is None or after is None:
        where = "The base" if before is None else "This tree"
        return [Block(f"### Verdicts\n\n{where} has no `metrics/claims.json`, so there is nothing to compare.")]
    return [Block(f"### Verdicts\n\n{flip_table(flipped) if flipped else f'All {len(after)} as before.'}")]


def flip_table(flipped: Sequence[Flip]) -> str:
    """A row a changed verdict."""
    rows = [
        (prose(one.claim), prose(one.where), _arrow(one.before, one.after), _arrow(one.ours_before, one.ours_after))
        for one in flipped
    ]
    return table(("claim", "where", "verdict", "ours"), rows)


def _arrow(before: str, after: str) -> str:
    return prose(before) if before == after else f"{prose(before)} → **{prose(after)}**"


def numbers(facts: Facts) -> list[Block]:
    """The first rows of the metrics; folded away the others, and the details."""
    shown, rest = split(facts.metrics, ROWS)
    made = []
    if shown:
        made.append(Block(f"### Numbers\n\n{number_table(shown)}"))
    if rest:
        made.append(Block(number_table(rest), f"{count(len(rest), 'more number')}"))
    if facts.details:
        numbers = count(len(facts.details), "number")
        title = f"{numbers} in detail: accuracy (%) and log10 p by length, the paper's, Proposition 1, Figure 1"
        made.append(Block(number_table(facts.details), title))
    return made


def parameter_table(pairs: Sequence[Pair]) -> str:
    """A row a parameter."""
    rows = [(code(pair.key), _shown(pair.before), _shown(pair.after)) for pair in pairs]
    return table(("parameter", "before", "after"), rows)


def number_table(pairs: Sequence[Pair]) -> str:
    """A row a number, with its file's name; the change also in percent of the number before."""
    rows = [
        (PurePosixPath(pair.file).stem, code(pair.key), _shown(pair.before), _shown(pair.after), _by(pair))
        for pair in pairs
    ]
    return table(("file", "number", "before", "after", "change"), rows, right=(2, 3, 4))


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return code(value if isinstance(value, str) else json.dumps(value))


def _by(pair: Pair) -> str:
    if pair.change is None:
        return ""
    size = f" ({pair.change / abs(pair.before):+.1%})" if pair.before else ""
    return f"{pair.change:+.4g}{size}"


def files(files: Sequence[tuple[str, str]]) -> list[Block]:
    """The figures that differ; folded away the other result files. `files` is that of `Facts`."""
    made = []
    drawn = figures(files)
    if drawn:
        lines = [
            f"- {word}: " + ", ".join(f"`{stem}` ({', '.join(suffixes)})" for stem, suffixes in stems.items())
            for word, stems in drawn.items()
        ]
        made.append(Block("\n".join(["### Figures", "", *lines])))
    rest = others(files)
    if rest:
        lines = [f"- {how}: {code(path)}" for how, path in rest]
        made.append(Block("\n".join(lines), count(len(rest), "other result file")))
    return made


def stages(changes: Sequence[Change]) -> list[Block]:
    """The stages that ran; folded away all reasons of those that have many, and the outputs that differ."""
    if not changes:
        return [Block("### Stages\n\nNone ran.")]
    made = [Block(f"### Stages\n\n{stage_table(changes)}")]
    long = [group for group in grouped(changes) if len(group[0].reasons) > FEW]
    if long:
        lines = [f"- {', '.join(code(one.stage) for one in group)}: {', '.join(group[0].reasons)}" for group in long]
        made.append(Block("\n".join(lines), "All that these stages ran because of"))
    differing = [path for change in changes for path, differs in change.outputs.items() if differs]
    if differing:
        lines = [f"- {code(path)}" for path in differing]
        made.append(Block("\n".join(lines), f"{count(len(differing), 'output')} with other content"))
    return made


def stage_table(changes: Sequence[Change]) -> str:
    """A row a group of stages: the first reasons, and how many of all their outputs differ."""
    rows = [(named([change.stage for change in group]), _why(group[0]), _outputs(group)) for group in grouped(changes)]
    return table(("stage", "because of", "outputs"), rows)


def named(stages: Sequence[str]) -> str:
    """One stage, or how many of its kind."""
    return code(stages[0]) if len(stages) == 1 else f"{code(kind(stages[0]))} × {len(stages)}"


def _why(change: Change) -> str:
    if change.kind != "ran":
        return change.kind
    return few(change.reasons, FEW) or "the same inputs"


def _outputs(group: Sequence[Change]) -> str:
    differ = list(chain.from_iterable(change.outputs.values() for change in group))
    if group[0].kind != "ran":
        return f"{len(differ)} made" if differ else ""
    return "all the same" if not any(differ) else f"{sum(differ)} of {len(differ)} changed"
