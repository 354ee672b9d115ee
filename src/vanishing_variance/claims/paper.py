"""Every claim of the paper that is judged, in its order: abstract, Sections 1 to 3.2, B.1, B.2 and B.3.

The rules are written here and in the modules that this one imports; docs/decisions.md says when they were set. Claims
about what training leads to, accuracy and the inside of trained models, are judged for each task, by models that are
trained like the paper's alone; those of `theory` at any scale. Ours, not the paper's: `ln-std-functions`,
`cause-attention` and `cause-read-out`. Not
judged: that it helps to let the training lengths grow (B.2; `-S ranges.long.growth=null` asks), that vanishing variance
is what degrades LLMs (Figure 1's caption), and that dispersion is inevitable (Figure 4's, a theorem of Veličković et
al.).
"""

from collections.abc import Callable, Sequence
from functools import partial

from vanishing_variance.claims import alike, attribution, causes, outputs, theory
from vanishing_variance.claims.convergence import converges
from vanishing_variance.claims.differences import Pair
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.gains import ahead
from vanishing_variance.claims.judgement import Claim, Judgement
from vanishing_variance.claims.outputs import changes, log_ratio, smaller
from vanishing_variance.study.runs import TASKS

Judge = Callable[[str, Evidence], Judgement]


def of_each(key: str, where: str, says: str, rule: str, judge: Judge, recorded: bool = True) -> Sequence[Claim]:
    """Return a claim a task: its key and what it says end with the task's name."""
    return [
        Claim(f"{key}-{task}", where, f"{says}, on {task}", rule, (task,), partial(judge, task), recorded=recorded)
        for task in TASKS
    ]


def inside(key: str, where: str, says: str, rule: str, judge: Judge) -> Sequence[Claim]:
    """Return a claim a task about what happens inside its models."""
    return of_each(key, where, says, f"{outputs.SCOPE}{rule}{outputs.SIGN}", judge)


def of_theory(
    key: str, where: str, says: str, rule: str, judge: Callable[[Evidence], Judgement], tasks: Sequence[str] = ()
) -> Claim:
    """Return a claim that is judged at any scale."""
    return Claim(key, where, says, rule, tasks, judge, of_training=False, recorded=False)


CLAIMS = (
    of_theory(
        "vanishing",
        "Section 1, Proposition 1",
        "The variance of attention outputs vanishes as sequences grow",
        *(theory.VANISHES, theory.vanishes, TASKS),
    ),
    of_theory(
        "pretrained",
        "Section 1, Figure 1",
        "Even in today's LLMs the standard deviation of a component of attention outputs falls with length",
        *(theory.FALLS, theory.falls),
    ),
    of_theory(
        "square-root",
        "Section 1, Figure 1",
        "For random tokens without positional encoding it falls roughly as N^−0.5 there",
        *(theory.HALF, theory.half),
    ),
    *inside(
        "features",
        "Section 2, Figure 2",
        "Beyond the training lengths the features of O are more concentrated around their means",
        "minus the log2 ratio of the mean feature variance of O (none) to that at the training lengths, above 0.",
        partial(changes, "none", lambda of: -log_ratio("feature_variance_before")(of), "log2 ratio"),
    ),
    *inside(
        "moments",
        "Section 2, Figure 3",
        "The global variance of O decays with length, and its global mean drifts",
        *(outputs.DRIFTS, outputs.drifts),
    ),
    *inside(
        "stability",
        "Section 2, Figure 3",
        "Layer normalisation preserves the global mean and variance more effectively as sequences grow",
        *(outputs.KEEPS, outputs.keeps),
    ),
    *inside(
        "shift",
        "Abstract, Section 3.1",
        "Layer normalisation alleviates the distribution shift of O",
        "the Wasserstein shift of O after the normaliser, in standard deviations of training, none less ln, above 0.",
        partial(smaller, lambda of: of["shift_after"], "sd"),
    ),
    *inside(
        "shift-left",
        "Abstract, Section 3.1",
        "Layer normalisation does not eliminate the distribution shift",
        "the Wasserstein shift with ln, after the normaliser, less that of as large a sample of the training lengths, "
        "above 0.",
        partial(changes, "ln", lambda of: of["shift_after"] - of["trained_shift_after"], "sd"),
    ),
    *inside(
        "features-ln",
        "Section 3.1, Figure 2",
        "The variance of fixed features still decays with layer normalisation",
        "minus the log2 ratio of the mean feature variance of O (ln, after the normaliser) to that at the training "
        "lengths, above 0.",
        partial(changes, "ln", lambda of: -log_ratio("feature_variance_after")(of), "log2 ratio"),
    ),
    *inside(
        "dispersion",
        "Section 3.1, Figure 4",
        "Layer normalisation mitigates dispersion",
        "the attention outside of the 16 largest weights, which Figure 4 shows, none less ln, above 0.",
        outputs.dispersed,
    ),
    *(
        one
        for task, table in (("argmax", "Table 1"), ("dictionary", "Table 2"))
        for one in (
            ahead(
                task,
                f"Section 3.1, {table}",
                f"Layer normalisation gives consistently better accuracy beyond the training lengths on {task}",
                Pair(task, "short", "ln", "none"),
            ),
            ahead(
                f"{task}-adaptive",
                f"Section 3.1, {table}",
                f"With the adaptive temperature, too, layer normalisation gives better accuracy on {task}",
                Pair(task, "short", "ln", "none", "adaptive"),
            ),
            Claim(
                f"{task}-orthogonal",
                f"Section 3.1, {table}",
                "The benefits are orthogonal: layer normalisation gains as much with the adaptive temperature as "
                f"without, on {task}",
                *(alike.ORTHOGONAL, (task,), partial(alike.orthogonal, task)),
            ),
        )
    ),
    *of_each(
        "cause-moments",
        "Abstract, Section 2",
        "The shift of O's moments is what costs most of the accuracy at length",
        *(causes.MOMENTS, causes.moments),
        recorded=False,
    ),
    *of_each(
        "cause-attention",
        "ours, against Section 2",
        "The fall of the target's attention weight is what costs most of the accuracy at length",
        *(causes.TARGET_WEIGHT, causes.attention),
        recorded=False,
    ),
    *of_each(
        "cause-read-out",
        "ours, on Section 3.1",
        "At equal attention on the target, layer normalisation gives better accuracy",
        *(attribution.READ_OUT, attribution.read_out),
        recorded=False,
    ),
    *of_each(
        "attribution",
        "Abstract, Section 2",
        "The reduced distribution shift of O is what improves the accuracy",
        *(attribution.ATTRIBUTION, attribution.improves),
        recorded=False,
    ),
    ahead(
        "std",
        "Section 3.2, Table 3",
        "Standardisation, too, improves length generalisation on argmax",
        Pair("argmax", "short", "std", "none"),
    ),
    ahead(
        "ln-std",
        "Section 3.2, Table 3",
        "Layer normalisation outperforms standardisation on argmax",
        Pair("argmax", "short", "ln", "std"),
    ),
    of_theory(
        "capacity",
        "Section 3.2",
        "Standardisation strictly constrains the capacity of the model, against the baseline",
        *(theory.CAPACITY, theory.argued),
    ),
    of_theory(
        "ln-std-functions",
        "ours, on Section 3.2",
        "Layer normalisation and standardisation represent the same functions: γ and β add no capacity",
        *(theory.SAME, theory.same_functions, TASKS),
    ),
    *(
        converges(
            f"convergence-{norm}",
            "B.1",
            f"On dictionary the optimisation usually converges within 10,000 steps, {said}",
            *("dictionary", norm),
        )
        for norm, said in (("none", "without a normaliser"), ("ln", "with layer normalisation"))
    ),
    *(
        ahead(
            f"{task}-long",
            f"B.2, {table}",
            f"Trained on up to 256 items, layer normalisation is still better beyond them on {task}",
            Pair(task, "long", "ln", "none"),
        )
        for task, table in (("argmax", "Table 4"), ("dictionary", "Table 5"))
    ),
    ahead(
        "std-dictionary",
        "B.3, Table 6",
        "Standardisation, too, improves length generalisation on dictionary",
        Pair("dictionary", "short", "std", "none"),
    ),
    Claim(
        "ln-std-alike",
        "B.3, Table 6",
        "On dictionary standardisation and layer normalisation perform more alike than on argmax",
        *(alike.NEARER, TASKS, alike.nearer),
    ),
)
