"""Columns of the frames that one stage writes and another reads, so that a reader can say which is missing."""

from vanishing_variance.measure.interventions.names import PLACES
from vanishing_variance.results.quantities import OF_TRAINING

_INSIDE = ("target", "largest", "entropy", *(f"{name}_{where}" for where in PLACES for name in OF_TRAINING))
_TRAINED = tuple(f"trained_{name}_{where}" for name in OF_TRAINING for where in PLACES)
_TEST = (
    *(f"{role}_{part}" for role in ("treatment", "baseline") for part in ("mean", "low", "high")),
    *("n", "difference", "low", "high", "boot_low", "boot_high", "d_z"),
    *("p", "p_wilcoxon", "seeds_for_power", "se", "share_seeds", "share_sequences", "share_both", "p_holm", "note"),
)
_EXPLAINED = ("n", "r", "r_low", "r_high", "r2", "r2_low", "r2_high", "beyond", "beyond_low", "beyond_high", "note")
_SHARES = tuple(f"{name}{end}" for name in ("change", "fall", "share") for end in ("", "_low", "_high"))
_VARIANT = ("task", "range", "norm")
_FIT = ("exponent", "low", "high")

# Parquet, by the kind of file.
PARQUET = {
    "accuracy": ("seed", "temperature", "length", "accuracy"),
    "mechanism": ("sample", "length", "seed", "largest16", *_INSIDE),
    "losses": ("seed", "step", "loss"),
    "moments": ("length", "where", "mean", "mean_se", "variance", "variance_se"),
    "interventions": (*_VARIANT, "seed", "length", "intervention", "where", "accuracy"),
    "counts": (*_VARIANT, "sample", "length", "seed", "bin", "sequences", "right"),
    "temperatures": ("half", "mistakes", "lowest", "highest", "p4", "p3", "p2", "p1", "p0"),
    "features": ("length", "where", "feature", "value"),
    "attention": ("length", "sequence", "rank", "weight"),
}

# CSV, by the name of the file. Records that are older than `largest16` lack it, and can still be read.
CSV = {
    "accuracy": ("task", "range", "norm", "seed", "temperature", "length", "accuracy"),
    "loss": ("task", "norm", "seed", "step", "loss"),
    "mechanism": ("task", "range", "norm", "seed", "length", "accuracy", *_INSIDE, *_TRAINED),
    "pieces": ("task", "range", "norm", "first_seed", "last_seed", "device", "cores", "revision", "minutes"),
    "shares": (*_VARIANT, "kind", "intervention", "where", "scope", "length", "n", *_SHARES, "note"),
    "explained": ("task", "range", "norms", "grouping", "quantity", *_EXPLAINED),
    "tests": ("task", "range", "treatment", "baseline", "temperature", "length", *_TEST),
    "table": ("temperature", "length", *(name for name in _TEST if not name.endswith("_mean"))),
    "paper": (
        *("table", "task", "range", "temperature", "variant", "quantity", "length"),
        *("paper", "ours", "low", "high", "n", "difference", "gain"),
    ),
    "figure1": ("model", "revision", "text", "strategy", "layer", "head", "component", "length", "n", "deviation"),
    "figure1-fits": ("strategy", "layer", "head", "component", *_FIT, "scale", "model"),
    "proposition": ("task", "norm", "feature", "length", "n", "variance", "predicted", "bound", "item_variance"),
    "proposition-exponents": ("task", "norm", "feature", "tail", *_FIT, "predicted", "measured"),
    "reference": ("table", "task", "range", "temperature", "variant", "quantity", "length", "value"),
}
