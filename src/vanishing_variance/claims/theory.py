"""Claims about Proposition 1, pretrained transformers and capacity."""

from functools import partial

from vanishing_variance.claims.claim import NOT_SUPPORTED, NOT_TESTED, SUPPORTED, UNDECIDED, Claim, Judgement
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.probe.strategies import STRATEGIES

VANISHES = (
    "In the first model of each task with none and with the treatment, items i.i.d.: of the features of O, the share "
    "whose variance falls with N (the 95% interval of its exponent, fitted to the longest lengths, is below 0). "
    "Supported: 95% of them or more in every model; not supported: less than half in any; else undecided."
)
FALLS = (
    "The slope of log σ against log N in the probed model, of all its components, for each of the three ways of "
    "drawing sequences. Supported: every component's 95% interval is below 0 for all three; not supported: less than "
    "half of them for any; else undecided."
)
HALF = (
    "The mean slope over components for random tokens without positional encoding. Supported: within 0.1 of −0.5; not "
    "supported: further away, and no component's 95% interval holds −0.5; else undecided."
)
CAPACITY = (
    "A trained ln model of each task, written as a std model (γ into W_O, β into the next bias), answers the test "
    "sequences of all lengths. Supported: more than 1 in 1,000 answers differ on any task; not supported: fewer on "
    "both."
)


def vanishes(key: str, where: str, says: str) -> Claim:
    """Proposition 1 on trained models."""
    return Claim(key, where, says, VANISHES, _vanishes)


def falls(key: str, where: str, says: str) -> Claim:
    """Figure 1: the standard deviation of a component falls with length in a pretrained transformer."""
    return Claim(key, where, says, FALLS, _falls)


def half(key: str, where: str, says: str, slope: float = -0.5) -> Claim:
    """Figure 1: how fast it falls for random tokens without positional encoding."""
    return Claim(key, where, says, HALF, partial(_half, slope))


def capacity(key: str, where: str, says: str) -> Claim:
    """Standardisation has less capacity than layer normalisation."""
    return Claim(key, where, says, CAPACITY, _capacity)


def _vanishes(evidence: Evidence) -> Judgement:
    if evidence.exponents is None:
        return Judgement(NOT_TESTED, "Proposition 1 was not measured")
    shares = {
        f"{task}/{norm}": (float((of["high"] < 0).mean()), float(of["exponent"].median()))
        for (task, norm), of in evidence.exponents.groupby(["task", "norm"], sort=False)
    }
    least = min(share for share, _ in shares.values())
    verdict = SUPPORTED if least >= 0.95 else NOT_SUPPORTED if least < 0.5 else UNDECIDED
    words = "; ".join(
        f"{name}: {share:.0%} of the features, median exponent {of:.2f}" for name, (share, of) in shares.items()
    )
    return Judgement(verdict, words, "% of features", 100 * least)


def _falls(evidence: Evidence) -> Judgement:
    if evidence.fits is None:
        return Judgement(NOT_TESTED, "no pretrained model was probed")
    by_strategy = evidence.fits.groupby("strategy", sort=False)
    shares = {str(name): float((of["high"] < 0).mean()) for name, of in by_strategy}
    least = min(shares.values())
    verdict = SUPPORTED if least == 1 else NOT_SUPPORTED if least < 0.5 else UNDECIDED
    slopes = by_strategy["exponent"].mean()
    words = "; ".join(
        f"{STRATEGIES[name].title}: {share:.0%}, mean slope {slopes[name]:.2f}" for name, share in shares.items()
    )
    words = f"{evidence.fits['model'].iloc[0]}: {words}"
    return Judgement(verdict, words, "% of components", 100 * least)


def _half(slope: float, evidence: Evidence) -> Judgement:
    if evidence.fits is None:
        return Judgement(NOT_TESTED, "no pretrained model was probed")
    of = evidence.fits.query("strategy == 'random_no_pe'")
    mean, held = float(of["exponent"].mean()), int(((of["low"] <= slope) & (slope <= of["high"])).sum())
    verdict = SUPPORTED if abs(mean - slope) <= 0.1 else UNDECIDED if held else NOT_SUPPORTED
    words = f"{of['model'].iloc[0]}: the 95% interval of {held} of {len(of)} components holds {slope}"
    return Judgement(verdict, words, "", mean, paper=slope)


def _capacity(evidence: Evidence) -> Judgement:
    def of_task(found: dict[str, float]) -> Judgement:
        verdict = SUPPORTED if found["differ"] > 1e-3 else NOT_SUPPORTED
        relative = found["logits_differ"] / found["logits_deviation"]
        words = (
            f"{found['differ']:.3%} of {found['answers']:,} answers; logits within {relative:.0e} standard deviations"
        )
        return Judgement(verdict, words, "% of answers", 100 * found["differ"])

    judged = {task: of_task(found) for task, found in evidence.capacity.items()}
    if not judged:
        return Judgement(NOT_TESTED, "no ln model was written as a std model")
    worst = max(judged.values(), key=lambda one: one.ours or 0.0)
    words = "; ".join(f"{task}: {one.evidence}" for task, one in judged.items())
    return Judgement(worst.verdict, words, worst.unit, worst.ours)
