"""Every claim of the paper that is judged, in its order: abstract, Sections 1 to 3.2, B.2 and B.3.

This is the one place where it stands what decides a claim, whatever a run says. The rules were set before the verdicts
were computed, when the accuracies of an earlier run were known. Claims about what training leads to, accuracy and the
inside of trained models, are judged by models that are trained like the paper's alone (`gains`, `outputs`); those of
`theory` at any scale. Not judged: that it helps to let the training lengths
grow (B.2; `-S ranges.long.growth=null` asks), that vanishing variance is what degrades LLMs (Figure 1's caption), and
that dispersion is inevitable (Figure 4's, a theorem of Veličković et al.).
"""

import numpy as np

from vanishing_variance.claims.gains import ahead, equal
from vanishing_variance.claims.outputs import changes, drifts, explains, keeps, log_ratio, smaller
from vanishing_variance.claims.theory import capacity, falls, half, vanishes

CLAIMS = (
    vanishes("vanishing", "Section 1, Proposition 1", "The variance of attention outputs vanishes as sequences grow"),
    falls(
        "pretrained",
        "Section 1, Figure 1",
        "Even in today's LLMs the standard deviation of a component of attention outputs falls with length",
    ),
    half(
        "square-root",
        "Section 1, Figure 1",
        "For random tokens without positional encoding it falls roughly as N^−0.5 there",
    ),
    changes(
        "features",
        "Section 2, Figure 2",
        "Beyond the training lengths the features of O are more concentrated around their means",
        "minus the log2 ratio of the mean feature variance of O (none) to that at the training lengths, above 0.",
        "none",
        lambda of: -log_ratio("feature_variance_before")(of),
        "log2 ratio",
    ),
    drifts("moments", "Section 2, Figure 3", "The global variance of O decays with length, and its global mean drifts"),
    keeps(
        "stability",
        "Section 2, Figure 3",
        "Layer normalisation preserves the global mean and variance more effectively as sequences grow",
    ),
    smaller(
        "shift",
        "Abstract, Section 3.1",
        "Layer normalisation alleviates the distribution shift of O",
        "the Wasserstein shift of O after the normaliser, in standard deviations of training, none less ln, above 0.",
        lambda of: of["shift_after"],
        "sd",
    ),
    changes(
        "shift-left",
        "Abstract, Section 3.1",
        "Layer normalisation does not eliminate the distribution shift",
        "the Wasserstein shift with ln, after the normaliser, less that of as large a sample of the training lengths, "
        "above 0.",
        "ln",
        lambda of: of["shift_after"] - of["trained_shift_after"],
        "sd",
    ),
    changes(
        "features-ln",
        "Section 3.1, Figure 2",
        "The variance of fixed features still decays with layer normalisation",
        "minus the log2 ratio of the mean feature variance of O (ln, after the normaliser) to that at the training "
        "lengths, above 0.",
        "ln",
        lambda of: -log_ratio("feature_variance_after")(of),
        "log2 ratio",
    ),
    smaller(
        "dispersion",
        "Section 3.1, Figure 4",
        "Layer normalisation mitigates dispersion",
        "the entropy of the attention weights as a share of that of uniform weights, none less ln, above 0.",
        lambda of: of["entropy"] / np.log(of["length"]),
        "of log N",
    ),
    ahead(
        "argmax",
        "Section 3.1, Table 1",
        "Layer normalisation gives consistently better accuracy beyond the training lengths on argmax",
        *("argmax", "short", "ln", "none"),
    ),
    ahead(
        "argmax-adaptive",
        "Section 3.1, Table 1",
        "On argmax the same with the adaptive temperature: the benefits are orthogonal",
        *("argmax", "short", "ln", "none", "adaptive"),
    ),
    ahead(
        "dictionary",
        "Section 3.1, Table 2",
        "Layer normalisation gives consistently better accuracy beyond the training lengths on dictionary",
        *("dictionary", "short", "ln", "none"),
    ),
    ahead(
        "dictionary-adaptive",
        "Section 3.1, Table 2",
        "On dictionary the same with the adaptive temperature: the benefits are orthogonal",
        *("dictionary", "short", "ln", "none", "adaptive"),
    ),
    explains(
        "attribution",
        "Abstract, Section 2",
        "The reduced distribution shift of O is what improves the accuracy (against: attention on the target item)",
    ),
    ahead(
        "std",
        "Section 3.2, Table 3",
        "Standardisation, too, improves length generalisation on argmax",
        *("argmax", "short", "std", "none"),
    ),
    ahead(
        "ln-std",
        "Section 3.2, Table 3",
        "Layer normalisation outperforms standardisation on argmax",
        *("argmax", "short", "ln", "std"),
    ),
    capacity("capacity", "Section 3.2", "Standardisation strictly constrains the capacity of the model"),
    ahead(
        "argmax-long",
        "B.2, Table 4",
        "Trained on up to 256 items, layer normalisation is still better beyond them on argmax",
        *("argmax", "long", "ln", "none"),
    ),
    ahead(
        "dictionary-long",
        "B.2, Table 5",
        "Trained on up to 256 items, layer normalisation is still better beyond them on dictionary",
        *("dictionary", "long", "ln", "none"),
    ),
    ahead(
        "std-dictionary",
        "B.3, Table 6",
        "Standardisation, too, improves length generalisation on dictionary",
        *("dictionary", "short", "std", "none"),
    ),
    equal(
        "ln-std-dictionary",
        "B.3, Table 6",
        "On dictionary standardisation and layer normalisation perform more alike",
        *("dictionary", "short", "ln", "std"),
    ),
)
