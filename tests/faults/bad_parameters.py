"""Parameter files that are wrong: what is changed in tests/smoke.yaml, and how the line that refuses it begins."""

from pathlib import Path

GOOD = (Path(__file__).resolve().parents[1] / "smoke.yaml").read_text()
MISSING = object()

# A dotted key, its value, and the line.
VALUES = [
    # out of range
    ("norm", "none", "norm is 'none'; must be one of centred_rms, ln, rms, std"),
    ("attention", "length_gain", "attention is 'length_gain'; must be one of "),
    ("network_options", {"layers": 3}, "network_options are those of another network; paper's are the section model"),
    ("model.heads", 3, "model is {'width': 8, 'heads': 3, 'epsilon': 1e-05, "),
    ("training.kept_steps", [5, 31], "training.kept_steps[1] is 31; must be at most 30, the most steps of any "),
    ("ranges.short.shortest", 5, "ranges.short is {'shortest': 5, 'longest': 4}; must be shortest <= longest"),
    ("probe.layers", "some", "probe.layers is 'some'; must be all, or a list of numbers that count from 0"),
    ("blocks", [0, 0], "blocks is [0, 0]; must be without a value named twice"),
    # unknown, missing or empty
    ("training.lr", 0.1, "training.lr is 0.1, but there is no such key; choose from batch_size, learning_rate"),
    ("training.batch_size", MISSING, "training.batch_size is missing; training must have batch_size, "),
    ("probe.model", "x" * 5000, "probe.model is 'xxxx"),
    # nan or infinity
    ("training.learning_rate", float("nan"), "training.learning_rate is nan; must be a finite number"),
    # what does not fit the rest of the file
    ("nrom", "ln", "nrom is 'ln', but there is no such key; choose from norm, attention, network, network_options, "),
    (
        "tasks.majority",
        {"data": {"classes": 5}, "steps": {"short": 9, "long": 9}, "training": {}},
        "tasks.majority is {",
    ),
    ("diagnostics.heatmap_sequences", 65, "diagnostics.heatmap_sequences is 65; must be at most diagnostics."),
    ("test.lengths", [4, 16, 128], "test.lengths[2] is 128; must be at most 64, the longest of task dictionary"),
    ("ranges.short.longest", 65, "ranges.short.longest is 65; must be at most 64, the longest of task dictionary"),
    ("figures.lengths", [4, 8], "figures.lengths[1] is 8; choose from test.lengths: 4, 16, 64"),
    ("proposition.tail", 5, "proposition.tail is 5; must leave at least 3 of proposition.lengths: 2, 4, 8, 32"),
]
# By name: the whole text, and the line of `check` and of `train`.
TEXTS = {
    "a key twice": (f"{GOOD}seed: 1\n", "cannot be read as YAML: line "),
    "a tag of Python": (f"{GOOD}more: !!python/object/apply:os.system ['touch hacked']\n", "cannot be read as YAML: "),
    "cut off after a line": (GOOD.partition("ranges:")[0], "ranges is missing; the file "),
    "nothing": ("", "is None; must be a mapping"),
    "no UTF-8": (f"{GOOD}more: \udcff\n", "cannot be read as YAML: "),
}
