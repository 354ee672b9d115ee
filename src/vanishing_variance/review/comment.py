"""The comment: what changed in the results, most important first, and why."""

from collections.abc import Mapping, Sequence

from vanishing_variance.review.differing import figures, others
from vanishing_variance.review.facts import Facts, Trial
from vanishing_variance.review.flips import Flip, flips
from vanishing_variance.review.lock import kind
from vanishing_variance.review.markdown import Block, both, code, count, few, listing
from vanishing_variance.review.parts import (
    FEW,
    files,
    flip_table,
    named,
    number_table,
    numbers,
    parameter_table,
    stage_table,
    stages,
    verdicts,
)
from vanishing_variance.review.smoke import Reproduced

# By which the workflow finds its own comment again (.github/workflows/comment.yml).
MARKER = "<!-- vanishing-variance:review -->"


def blocks(facts: Facts, base: str, trial: Trial | None) -> list[Block]:
    """The comment's parts; `base` says in Markdown what the tree is compared with."""
    flipped = flips(*facts.claims)
    made = [Block(f"{MARKER}\n## {headline(facts, flipped)}\n\nCompared with {base}.")]
    made += [*_stale(facts.stale), *_broken(trial)]
    if facts.parameters:
        made.append(Block(f"### Parameters\n\n{parameter_table(facts.parameters)}"))
    made += [*verdicts(facts.claims, flipped), *numbers(facts), *files(facts.files), *stages(facts.changes)]
    return made + (_trial(trial) if trial else [])


def headline(facts: Facts, flipped: Sequence[Flip]) -> str:
    """What changed in the results, counted."""
    ran = [change for change in facts.changes if change.kind != "gone"]
    drawn = {name for names in figures(facts.files).values() for name in names}
    counts = (
        (len(flipped), "verdict"),
        (len(facts.metrics) + len(facts.details), "number"),
        (len(drawn), "figure"),
        (len(others(facts.files)), "other result file"),
    )
    changed = [count(number, thing) for number, thing in counts if number]
    stages = [f"{count(len(ran), 'stage')} ran"] if ran else []
    if facts.stale:
        stages.append(f"{len(facts.stale)} {'has' if len(facts.stale) == 1 else 'have'} yet to run")
    what = f"{both(changed)} changed" if changed else "No result changes"
    return "; ".join([what, ", ".join(stages)]) if stages else what


def _stale(stale: Mapping[str, Sequence[str]]) -> list[Block]:
    if not stale:
        return []
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for stage, reasons in stale.items():
        together.setdefault((kind(stage), tuple(reasons)), []).append(stage)
    rows = [f"> - {named(stages)}: {few(reasons, FEW)}" for (_, reasons), stages in together.items()]
    said = [
        "> [!WARNING]",
        "> **The results are not those of this tree**: run `dvc repro`, then commit `metrics/`, `plots/` and "
        f"`dvc.lock`. {count(len(stale), 'stage')} differ{'s' if len(stale) == 1 else ''} from what `dvc.lock` records "
        "(stages that depend on them are not named):",
        *rows,
    ]
    return [Block("\n".join(said))]


def _broken(trial: Trial | None) -> list[Block]:
    if trial is None or trial.tree.failed is None:
        return []
    before = ", as it does at the base" if trial.base.failed == trial.tree.failed else ""
    said = f"> **The smoke run fails**{_where(trial.tree)}{before}; see the end of this comment."
    return [Block(f"> [!CAUTION]\n{said}")]


def _trial(trial: Trial) -> list[Block]:
    """The smoke run's parts; its numbers say only that something changed."""
    about = (
        "Tiny models, made here at both states, the tree's upon the base's results: they tell what runs and whether it "
        "works; their numbers mean nothing else."
    )
    if trial.untried:
        about += f" Not tried, because that scale has its own values: {', '.join(map(code, trial.untried))}."
    made = [Block(f"### At smoke scale\n\n{about}")]
    for name, run in (("The base", trial.base), ("This tree", trial.tree)):
        if run.failed is None:
            made.append(Block(f"{name}: {count(len(run.ran), 'stage')} ran, none failed."))
        else:
            again = run is trial.tree and run.lines == trial.base.lines
            lines = " with the same lines." if again else f":\n\n{listing(run.lines)}"
            made.append(Block(f"{name} **fails**{_where(run)}{lines}"))
    if trial.facts.changes:
        made.append(Block(stage_table(trial.facts.changes)))
    flipped = flips(*trial.facts.claims)
    if flipped:
        made.append(Block(flip_table(flipped), f"{count(len(flipped), 'verdict')} changed at smoke scale"))
    numbers = [*trial.facts.metrics, *trial.facts.details]
    if numbers:
        made.append(Block(number_table(numbers), f"{count(len(numbers), 'number')} changed at smoke scale"))
    return made


def _where(run: Reproduced) -> str:
    return f" in {code(run.failed)}" if run.failed else ""
