"""Parameter files that are wrong by construction: a good one, with one fault at one place.

What each key allows is said here once more, and not asked of the code that is tested.
"""

import copy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import yaml
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
GOOD = {name: yaml.safe_load((ROOT / name).read_text()) for name in ("params.yaml", "tests/smoke.yaml")}


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int = 2**31 - 1


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`; `low` itself only where it is `open` to it."""

    low: float
    high: float
    with_low: bool = False


@dataclass(frozen=True)
class Text:
    """One of `choices`, or where there are none, a line; or nothing, where `null`."""

    choices: tuple[str, ...] = ()
    null: bool = False


@dataclass(frozen=True)
class Truth:
    """true or false."""


@dataclass(frozen=True)
class Numbers:
    """A list of whole numbers, increasing or only different; or `all`."""

    each: Whole
    increasing: bool = True
    or_all: bool = False


LENGTHS = Numbers(Whole(1, 2**24))
PLACES = Numbers(Whole(0), increasing=False, or_all=True)
LEAVES = {
    "norm": Text(("ln", "rms", "std")),
    "seed": Whole(0),
    "blocks": Numbers(Whole(0), increasing=False),
    "seeds_per_block": Whole(1, 10_000),
    "tasks.argmax.data.classes": Whole(2, 256),
    "tasks.argmax.steps.short": Whole(1),
    "tasks.argmax.steps.long": Whole(1),
    "tasks.dictionary.data.key_classes": Whole(2, 2**15),
    "tasks.dictionary.data.value_classes": Whole(2, 256),
    "tasks.dictionary.steps.short": Whole(1),
    "tasks.dictionary.steps.long": Whole(1),
    "tasks.dictionary.training.embedding_width": Whole(1),
    "tasks.dictionary.training.embedding_std": Number(0, 1e6),
    "ranges.short.shortest": Whole(1),
    "ranges.short.longest": Whole(1),
    "ranges.long.shortest": Whole(1),
    "ranges.long.longest": Whole(1),
    "ranges.long.growth.shape": Text(("linear", "geometric")),
    "ranges.long.growth.start": Whole(1),
    "ranges.long.growth.until": Number(0, 1),
    "model.width": Whole(2),
    "model.epsilon": Number(0, 1e6, with_low=True),
    "model.gelu": Text(("exact", "tanh")),
    "model.initialisation": Text(("torch", "lecun", "xavier")),
    "model.attention_biases": Truth(),
    "model.scaled_logits": Truth(),
    "model.output_projection": Truth(),
    "model.projection": Text(("mlp", "direct")),
    "training.batch_size": Whole(1),
    "training.learning_rate": Number(0, 1e6),
    "training.weight_decay": Number(0, 1e6, with_low=True),
    "training.decay": Text(("none", "cosine")),
    "training.seeds_per_process": Whole(1),
    "temperature.sequences": Whole(1),
    "test.lengths": LENGTHS,
    "test.sequences": Whole(2),
    "diagnostics.sequences": Whole(2),
    "diagnostics.heatmap_sequences": Whole(1),
    "figures.task": Text(("argmax", "dictionary")),
    "figures.lengths": LENGTHS,
    "proposition.lengths": LENGTHS,
    "proposition.sequences": Whole(2),
    "proposition.tail": Whole(1, 2**24),
    "probe.model": Text(),
    "probe.revision": Text(null=True),
    "probe.text": Text(),
    "probe.lengths": Numbers(Whole(2, 2**24)),
    "probe.sequences": Whole(2),
    "probe.layers": PLACES,
    "probe.heads": PLACES,
    "probe.components": Whole(1),
}
SECTIONS = sorted({key.rsplit(".", up)[0] for key in LEAVES for up in range(1, key.count(".") + 1)})
MAY_BE_MISSING = {"ranges.long.growth"}
INCREASING = [key for key, kind in LEAVES.items() if isinstance(kind, Numbers) and kind.increasing]


@dataclass(frozen=True)
class Fault:
    """A bad file; None: a directory. `key`: the dotted key that is wrong, empty where the file is no YAML mapping;
    `said`: what the line must say; `across`: only who reads the whole file can know."""

    content: bytes | None
    key: str = ""
    said: tuple[str, ...] = ()
    across: bool = False


def keys_of(section):
    """The keys that a section has: "" is the whole file."""
    prefix = f"{section}." if section else ""
    return {key.removeprefix(prefix).split(".")[0] for key in LEAVES if key.startswith(prefix)}


def at(document, key):
    """The mapping that holds a dotted key, and the key's last part."""
    *sections, last = key.split(".")
    for name in sections:
        document = document[name]
    return document, last


def dumped(document, raw=None):
    """As YAML; `@raw@` is replaced by text."""
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=False, width=10**6)
    return (text if raw is None else text.replace("'@raw@'", raw)).encode()


def changed(base, key, value, raw=None):
    document = copy.deepcopy(GOOD[base])
    section, last = at(document, key)
    section[last] = value
    return dumped(document, raw)


BASES = st.sampled_from(sorted(GOOD))
KEYS = st.sampled_from(sorted(LEAVES))
# No digits at the beginning, so that nobody could take a word for a number; nor what YAML takes for something else.
WORDS = st.from_regex(r"[b-mo-z]{3,12}", fullmatch=True).filter(lambda word: word not in {"true", "false"})
BEYOND = st.sampled_from([2**31, 2**32, 2**63, 2**64, 2**70, 10**30, 10**300]) | st.integers(2**31, 2**80)
SCALARS = st.one_of(
    WORDS, st.integers(-(2**70), 2**70), st.floats(allow_nan=True), st.booleans(), st.none(), st.dates(), st.binary()
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.dictionaries(WORDS, SCALARS, max_size=4))
MAPPINGS = st.dictionaries(WORDS, SCALARS, min_size=1, max_size=4)


def of_another_type(kind):
    """Values whose type the key does not allow."""
    texts, truths, mappings = WORDS, st.booleans(), MAPPINGS
    lists = st.lists(SCALARS, min_size=1, max_size=4)
    numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
    other = [mappings, st.dates(), st.binary(min_size=1)]
    match kind:
        case Whole():
            halves = st.integers(-1000, 1000).map(lambda number: number + 0.5) | st.integers(1, 100).map(float)
            return st.one_of(*other, texts, truths, lists, halves, st.integers().map(str))
        case Number():
            return st.one_of(*other, texts, truths, lists, st.floats(0.1, 1).map(str))
        case Text():
            return st.one_of(*other, truths, lists, numbers)
        case Truth():
            return st.one_of(*other, texts, lists, numbers, st.sampled_from([0, 1, "true", "yes", "on"]))
        case Numbers():
            return st.one_of(*other, texts, truths, numbers)


def out_of_range(kind):
    """Values of the right type that are not allowed."""
    match kind:
        case Whole(low, high):
            return st.integers(-(2**80), low - 1) | st.integers(high + 1, 2**80) | st.sampled_from([low - 1, high + 1])
        case Number(low, high, with_low):
            below = st.floats(max_value=low, exclude_max=with_low, allow_infinity=False)
            return below | st.floats(min_value=high, exclude_min=True, allow_infinity=False) | BEYOND
        case Text(choices):
            odd = st.sampled_from(["../../x", "/etc/passwd", "ln.py", "none", "LN", " ln", "a/../x", "a\nb", "a\0b"])
            lines = st.text(min_size=1, max_size=20)
            return (odd | lines).filter(lambda text: text not in choices and (choices or not text.isprintable()))
        case Numbers(each):
            bad = out_of_range(each) | of_another_type(each)
            return st.tuples(st.integers(0, 3), bad).map(
                lambda drawn: [*range(each.low + 1, each.low + 1 + drawn[0]), drawn[1]]
            )
        case Truth():
            return st.sampled_from([0, 1, 2, -1])


@st.composite
def wrong_type(draw):
    key = draw(KEYS)
    value = draw(of_another_type(LEAVES[key]))
    return Fault(changed(draw(BASES), key, value), key, _shown(value))


@st.composite
def not_in_range(draw):
    key = draw(KEYS)
    value = draw(out_of_range(LEAVES[key]))
    return Fault(changed(draw(BASES), key, value), key, _shown(value))


@st.composite
def unknown_key(draw):
    section = draw(st.sampled_from(["", *SECTIONS]))
    names = WORDS | st.text(max_size=30) | st.integers() | st.booleans()
    name = draw(names.filter(lambda one: one not in keys_of(section)))
    document = copy.deepcopy(GOOD[draw(BASES)])
    there = document
    for part in section.split(".") if section else ():
        there = there.setdefault(part, {}) if there[part] is None else there[part]
    there[name] = draw(VALUES)
    plain = isinstance(name, str) and name.isascii() and name.isalpha()
    whole = f"{section}.{name}".lstrip(".") if plain else section
    return Fault(dumped(document), f"{section}.?".lstrip("."), (whole, "there is no such key"))


@st.composite
def missing(draw):
    key = draw(st.sampled_from(sorted({*LEAVES, *SECTIONS} - MAY_BE_MISSING)))
    document = copy.deepcopy(GOOD[draw(BASES)])
    section, last = at(document, key)
    del section[last]
    return Fault(dumped(document), key, (f"{key} is missing",))


@st.composite
def empty(draw):
    key = draw(st.sampled_from([*LEAVES, *SECTIONS]))
    may_be_null = key in MAY_BE_MISSING or getattr(LEAVES.get(key), "null", False)
    value = draw(st.sampled_from(["", [], {}, *([] if may_be_null else [None])]))
    return Fault(changed(draw(BASES), key, value), key)


@st.composite
def section_of_another_type(draw):
    key = draw(st.sampled_from(SECTIONS))
    value = draw(SCALARS.filter(lambda one: one is not None) | st.lists(SCALARS, max_size=4))
    return Fault(changed(draw(BASES), key, value), key, ("must be a",))


@st.composite
def not_a_number(draw):
    key = draw(KEYS)
    raw = draw(st.sampled_from([".nan", ".NaN", ".inf", "-.inf", "1e400", "-1e400", "1.0e+999", "[.nan]", "[1e400]"]))
    return Fault(changed(draw(BASES), key, "@raw@", raw), key)


@st.composite
def huge(draw):
    key = draw(KEYS)
    many = draw(st.integers(2_000, 100_000))
    raw = draw(
        st.sampled_from(
            [
                f"'{'x' * many}'",
                f"[{'0, ' * (many // 10)}0]",
                f"{{{', '.join(f'k{number}: 1' for number in range(many // 100))}}}",
                f"0x{'f' * many}",
                f"{'[' * 4}{']' * 4}",
                f"{many % 9 + 1}{'0' * 4000}",
            ]
        )
    )
    return Fault(changed(draw(BASES), key, "@raw@", raw), key)


@st.composite
def twice_in_a_list(draw):
    key = draw(st.sampled_from(sorted(key for key, kind in LEAVES.items() if isinstance(kind, Numbers))))
    numbers = sorted(draw(st.sets(st.integers(1, 60), min_size=1, max_size=5)))
    again = draw(st.sampled_from(numbers))
    return Fault(changed(draw(BASES), key, sorted([*numbers, again])), key)


@st.composite
def not_increasing(draw):
    key = draw(st.sampled_from(INCREASING))
    numbers = draw(st.permutations([4, 8, 16, 32, 64]).filter(lambda some: any(b < a for a, b in pairwise(some))))
    return Fault(changed(draw(BASES), key, list(numbers)), key, ("strictly increasing",))


@st.composite
def key_twice(draw):
    key = draw(st.sampled_from([*LEAVES, *SECTIONS]))
    base = draw(BASES)
    document = copy.deepcopy(GOOD[base])
    if key.startswith("ranges.long.growth") and document["ranges"]["long"]["growth"] is None:
        key = "ranges.long"
    lines = dumped(document).decode().splitlines(keepends=True)
    node = yaml.compose("".join(lines))
    for part in key.split("."):
        name, node = next(pair for pair in node.value if pair[0].value == part)
    again = " " * name.start_mark.column + f"{name.value}: {draw(st.integers(0, 9))}\n"
    lines.insert(name.start_mark.line, again)
    return Fault("".join(lines).encode(), said=("duplicate key", f'"{name.value}"'))


def seeded(value):
    """The file with another text after `seed: `."""
    return lambda draw, text: text.replace("seed: 0", f"seed: {value}")


def with_inside(part):
    """The file with some bytes somewhere."""

    def broken(draw, text):
        somewhere, content = draw(st.integers(0, len(text) - 1)), text.encode()
        return content[:somewhere] + part + content[somewhere:]

    return broken


def tabbed(draw, text):
    """The file with a line that is indented by a tab."""
    lines = text.splitlines(keepends=True)
    one = draw(st.sampled_from([place for place, line in enumerate(lines) if line.startswith("  ")]))
    return "".join([*lines[:one], "\t" + lines[one].lstrip(), *lines[one + 1 :]])


HACK = "!!python/object/apply:os.system ['touch hacked']"
BROKEN = {
    "tags of Python": (
        *(seeded(value) for value in (HACK, "!!python/name:os.system", "!mine 0")),
        lambda draw, text: f"{HACK}\n---\n{text}",
    ),
    "several documents": (
        lambda draw, text: f"{text}---\n{text}",
        lambda draw, text: f"{text}...\n{text}",
    ),
    "a tab": (tabbed,),
    "bytes that are no text": (
        *(with_inside(part) for part in (b"\0", b"\1", b"\x1b", b"\x7f", b"\xff")),
        lambda draw, text: draw(st.binary(min_size=1, max_size=300)) + b"\xff",
        lambda draw, text: text.encode(draw(st.sampled_from(["utf-16", "utf-32"]))),
    ),
    "nothing, or no mapping": (
        lambda draw, text: draw(
            st.sampled_from(["", "\n", "   \n\n", "# nothing\n", "---\n", "null\n", "~", "\ufeff"])
        ),
        lambda draw, text: yaml.safe_dump(draw(st.lists(SCALARS, min_size=1, max_size=5))),
        lambda draw, text: yaml.safe_dump(draw(WORDS | st.integers() | st.booleans())),
        lambda draw, text: f"- {text.splitlines()[0]}\n",
    ),
    "no YAML": (
        lambda draw, text: text + draw(st.sampled_from(["}", "]", "k: 'open", "a: b: c", "@", "`", "&"])),
        *(seeded(value) for value in ("[", "{", "'", "!!int x", "!!bool x", "!!float ''", "!!timestamp x")),
        lambda draw, text: draw(st.sampled_from("[{-?")) * draw(st.integers(2_000, 3_000)),
        lambda draw, text: text.replace("seed: 0", f"seed: {'9' * draw(st.integers(5_000, 50_000))}"),
    ),
    "a directory in its place": (lambda draw, text: None,),
}


@st.composite
def broken(draw, sort):
    content = draw(st.sampled_from(BROKEN[sort]))(draw, dumped(GOOD[draw(BASES)]).decode())
    return Fault(content.encode() if isinstance(content, str) else content)


@st.composite
def cut_off(draw):
    """Before its last line at the latest: a key is missing, or more."""
    text = dumped(GOOD[draw(BASES)])
    last = text.rstrip(b"\n").rindex(b"\n")
    return Fault(text[: draw(st.integers(0, last))], across=True)


@st.composite
def across_keys(draw):
    """Each key is right alone."""
    base = draw(BASES)
    document = copy.deepcopy(GOOD[base])
    test, keys = document["test"], document["tasks"]["dictionary"]["data"]["key_classes"]
    longer = draw(st.integers(keys + 1, 2**24))
    strange = draw(st.integers(1, 2**24).filter(lambda length: length not in test["lengths"]))
    key, value, other = draw(
        st.sampled_from(
            [
                ("diagnostics.heatmap_sequences", document["diagnostics"]["sequences"] + strange, {}),
                ("test.lengths", [*test["lengths"], longer], {}),
                ("ranges.short.longest", longer, {}),
                ("ranges.long.longest", longer, {}),
                ("figures.lengths", [strange], {}),
                ("proposition.tail", document["proposition"]["lengths"][-2] + draw(st.integers(0, 2**20)), {}),
                ("ranges.short.shortest", document["ranges"]["short"]["longest"] + draw(st.integers(1, 10**6)), {}),
                ("ranges.long.growth.start", document["ranges"]["long"]["longest"] + draw(st.integers(1, 10**6)), {}),
            ]
        )
    )
    for name, new in {key: value, **other}.items():
        section, last = at(document, name)
        section[last] = new
    if key in ("ranges.short.shortest", "ranges.long.growth.start"):
        key = key[: key.index(".", len("ranges."))]
    return Fault(dumped(document), key, across=True)


def _shown(value):
    """The value, where it is short enough to stand in the line as it is."""
    simple = isinstance(value, bool | int | str) and len(repr(value)) < 60
    return (f"is {value!r}",) if simple else ()


# How many of a thousand files have each.
FAULTS = {
    "a wrong type": (wrong_type(), 140),
    "a section of a wrong type": (section_of_another_type(), 40),
    "a value out of range": (not_in_range(), 140),
    "nan or infinity": (not_a_number(), 60),
    "a huge value": (huge(), 60),
    "a missing key": (missing(), 84),
    "an empty value": (empty(), 70),
    "an unknown key": (unknown_key(), 90),
    "a key twice": (key_twice(), 50),
    "a number twice in a list": (twice_in_a_list(), 50),
    "lengths that do not increase": (not_increasing(), 40),
    "keys that do not go together": (across_keys(), 30),
    "an end that is cut off": (cut_off(), 39),
    "tags of Python": (broken("tags of Python"), 8),
    "several documents": (broken("several documents"), 4),
    "a tab": (broken("a tab"), 10),
    "bytes that are no text": (broken("bytes that are no text"), 40),
    "nothing, or no mapping": (broken("nothing, or no mapping"), 24),
    "no YAML": (broken("no YAML"), 20),
    "a directory in its place": (broken("a directory in its place"), 1),
}
