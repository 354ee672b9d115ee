"""Deliberate mistakes, each made in a worktree of the last commit, and the first test that finds it.

    python tests/mistakes.py [--only NAME]

A mistake is a text that stands in one place of the sources, and what takes its place. The tests in the folder of the
changed module's name run first and stop at the first failure; the whole suite runs for what they do not find.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow"]
PYTEST += ["--ignore", "tests/test_mistakes.py"]  # where a mistake is made its text is gone
WHOLE = ["-n", "2", "--dist", "loadfile", "tests"]
SECONDS = 3600

# By name: a text, and what takes its place.
MISTAKES = {
    "fewer steps than the paper's compare in the figure": (
        "    if steps < papers_steps:",
        "    if steps < 0:",
    ),
    "a user's matplotlibrc changes every picture": ("    use(STYLES)", "    use(STYLES[1])"),
    "the README's mean takes the training lengths, too": (
        'if int(length) > PAPER_LONGEST["short"]]',
        "if int(length) > 0]",
    ),
    # Sequences and seeds
    "training never has the longest length": (
        "rng.integers(span.shortest, span.longest, endpoint=True, size=STEPS_PER_DRAW)",
        "rng.integers(span.shortest, span.longest, size=STEPS_PER_DRAW)",
    ),
    "lengths grow until the last step": ("steps / (growth.until * plan.steps)", "steps / plan.steps"),
    "each normaliser trains on data of its own": (
        'name = "train", plan.variant.task_name, plan.range_name',
        'name = "train", plan.variant.task_name, plan.range_name, plan.variant.norm_name',
    ),
    "a seed's first weights depend on its place": (
        'stream(root_seed, "initial", task, seed, name)',
        'stream(root_seed, "initial", task, seeds.index(seed), name)',
    ),
    "both tasks are tested with one stream": (
        'stream(root_seed, "test", task_name, length)',
        'stream(root_seed, "test", length)',
    ),
    "items of two categories share a row": (
        "index = index.long() * rows + batch[name].long()",
        "index = index.long() + batch[name].long()",
    ),
    "a label may depend on other sequences": ("    for some in (rows, half):", "    for some in (half[:0],):"),
    "priorities may tie at any length": ("if length > TIES_LEFT:", "if length < 0:"),
    "repeated keys are redrawn once": ("    while pending.size:", "    if pending.size:"),
    # What other settings left
    "what is not in DVC's cache is removed": (
        "            if all(map(cache.exists, hashes)):",
        "            if hashes:",
    ),
    # Processes and the machine
    "a compiled library that was cut off is loaded": ("    if not _is_whole(library):", "    if not library.exists():"),
    "half a core counts as all cores": ("yield math.ceil(quota / period)", "yield quota"),
    "the caller is left with one thread": ("        torch.set_num_threads(threads)", "        pass"),
    # Training
    "a resumed training draws a batch twice": (
        "if step >= completed:",
        "if step >= completed - 1:",
    ),
    "a resumed step counts twice": (
        "optimiser.resume(completed)\n    report(",
        "optimiser.resume(completed + 1)\n    report(",
    ),
    "a checkpoint of other parameters is taken": (
        "fingerprint(plan, seeds)",
        "fingerprint(seeds)",
    ),
    "memory that is not enough trains the first seeds again": (
        "some_seeds = seeds[first : first + size]",
        "some_seeds = seeds[:size]",
    ),
    "the test of several heads does not see the plain engine": (
        'params["model"]["heads"] > 1',
        'params["model"]["heads"] > 9',
    ),
    "what a network keeps beside its state is not seen": (
        "if first.get(name) != again.get(name):",
        "if not again.keys():",
    ),
    "dropout goes on with other numbers after a checkpoint": (
        "torch.manual_seed(int(self._noise[number - 1]))",
        "pass",
    ),
    "each normaliser starts a network with weights of its own": (
        'plan.variant.task_name, seed, "network"',
        'plan.variant.task_name, plan.variant.norm_name, seed, "network"',
    ),
    "models of the plain engine have test sequences of their own": (
        "rng = held_out_stream(plan.root_seed, plan.variant.task_name, length)",
        "rng = held_out_stream(plan.root_seed, plan.variant.task_name, length + 1)",
    ),
    "a gate reads the outputs": ("self.gate(reading)", "self.gate(outputs.flatten(2))"),
    "Adam corrects its second moment by beta1": ("(1 - BETA2**number) ** -0.5", "(1 - BETA1**number) ** -0.5"),
    "weights decay away from zero": (
        "value[i] = keep * value[i] - size * mean[i]",
        "value[i] = (2 - keep) * value[i] - size * mean[i]",
    ),
    "wide rows of a table miss a step": (
        "coast(rule, next, last, LANES, value, mean, square)",
        "coast(rule, next, last - 1, LANES, value, mean, square)",
    ),
    "a snapshot shrinks the averages of waiting rows": (
        "coast(rule, next, last, count, copy + at, mean, square)",
        "coast(rule, next, last, count, copy + at, table->mean + at, table->square + at)",
    ),
    "weights are averaged from the first step on": (
        "range(steps, steps - last_part, -STEPS_BETWEEN)",
        "range(steps, 0, -STEPS_BETWEEN)",
    ),
    "a resumed training loses what was averaged": (
        'state[f"kept.{name}"] = tensor',
        'state[f"kept.{name}"] = tensor.clone()',
    ),
    "the learning rate falls to a half": (
        "rates *= (1 + torch.cos(angles)) / 2",
        "rates *= (1 + torch.cos(angles / 2)) / 2",
    ),
    "the loss is a mean over seeds": ("loss.sum().backward()", "loss.mean().backward()"),
    "a loss that is no number goes on": ("bad = (~torch.isfinite(history)).nonzero()", "bad = history.new_zeros(0)"),
    # The network
    "the softmax's gradient is not centred": ("weight * (dot - centre)", "weight * dot"),
    "a bias gets the mean of its gradients": (
        "to_biases[layer] = gradient.sum(1)",
        "to_biases[layer] = gradient.mean(1)",
    ),
    "epsilon joins the variance": (
        "centred * (sigma + epsilon).reciprocal(), parameters",
        "centred * (sigma**2 + epsilon).rsqrt(), parameters",
    ),
    "ssmax counts an item too many": (
        'return parameters["scale"] * math.log(items)',
        'return parameters["scale"] * math.log(items + 1)',
    ),
    "logits of a head are scaled as of all": (
        "scale = head_width**-0.5",
        "scale = self.model.width**-0.5",
    ),
    "heads read each other's sequences": (
        "array.unsqueeze(2).expand(-1, -1, heads, -1).flatten(1, 2)",
        "array.repeat(1, heads, 1)",
    ),
    # Tests of models
    "the entropy is in bits": (
        "-(log_weights.exp() * log_weights).sum(-1)",
        "-(log_weights.exp() * log_weights).sum(-1) / 0.6931",
    ),
    "a polynomial begins at its lowest power": ("in POLYNOMIAL:", "in reversed(POLYNOMIAL):"),
    "an accuracy is a percentage": ('"accuracy": answers.mean(axis=1)', '"accuracy": 100 * answers.mean(axis=1)'),
    "the global variance is over sequences": ("= outputs.var(axis=1).mean()", "= outputs.var(axis=0).mean()"),
    "hard attention takes the smallest logit": (
        "attended.logits.argmax(-1, keepdim=True)",
        "attended.logits.argmin(-1, keepdim=True)",
    ),
    "heads share one temperature": (
        "beta = adaptive_beta(attended.entropy)",
        "beta = adaptive_beta(over_heads(attended.entropy, len(labels)))"
        ".repeat_interleave(self.network.model.heads, 1)",
    ),
    "a mean over heads mixes sequences": (
        "values.unflatten(1, (sequences, -1)).mean(2)",
        "values.unflatten(1, (-1, sequences)).mean(1)",
    ),
    "weights of target and others exceed 1": (
        "weight * self.target + (1 - weight) * rest",
        "weight * self.target + rest",
    ),
    "the probe's spread is the population's": (
        "].std(axis=0, ddof=1, dtype=np.float64)",
        "].std(axis=0, ddof=0, dtype=np.float64)",
    ),
    "the probe's model counts positions without padding": (
        "for token in range(config.vocab_size) if token != padding]",
        "for token in range(config.vocab_size)]",
    ),
    "the probe takes what an attention changes for heads' outputs": (
        "return not alike(now, before) and all(alike(*pair) for pair in pairs)",
        "return not alike(now, before)",
    ),
    "the loss is of the longest training length alone": (
        "lengths = range(plan.lengths.shortest, plan.lengths.longest + 1)",
        "lengths = range(plan.lengths.longest, plan.lengths.longest + 1)",
    ),
    # Statistics
    "Holm goes from the largest p": ("np.argsort(p)[:made]", "np.argsort(-p)[:made]"),
    "Holm corrects over all rules": ('tests.groupby(NAMES[:-1])["p"]', 'tests.groupby(NAMES[:-2])["p"]'),
    "an interval of the values, not their mean": (
        "float(values.std(ddof=1)) / n**0.5",
        "float(values.std(ddof=1))",
    ),
    "test sequences add no uncertainty": ("[seed, sequence, both]", "[seed, 0 * sequence, both]"),
    "Fieller's covariance has the wrong sign": ("above * below - covariance[0, 1]", "above * below + covariance[0, 1]"),
    "arms are compared without the covariate": (
        "[arm, covariate, np.ones_like(outcome)]",
        "[arm, np.ones_like(outcome)]",
    ),
    "power of a one-sided test": ("alpha=ALPHA, power=WANTED", "alpha=2 * ALPHA, power=WANTED"),
    # Results and claims
    "every study has the long range": (
        '"short", *get_param(params, "train_also_on", FurtherRanges)',
        '"short", "long"',
    ),
    "a percentage is a fraction": (
        'return 100 * results.pivot(index="seed", columns="length", values="accuracy")',
        'return results.pivot(index="seed", columns="length", values="accuracy")',
    ),
    "seeds are paired by their place": (
        "return ours.loc[both], theirs.loc[both]",
        "return ours.iloc[: len(both)], theirs.loc[both]",
    ),
    "beyond training begins at its longest length": (
        "theirs.columns if int(length) > longest",
        "theirs.columns if int(length) >= longest",
    ),
    "a gain's slope is by length, not by doublings": (
        "doublings = np.log2(lengths) - np.log2(lengths).mean()",
        "doublings = lengths - lengths.mean()",
    ),
    "supported where the interval holds 0": (
        "return decided(bool(low > 0), bool(high < 0))",
        "return decided(bool(high > 0), bool(high < 0))",
    ),
    "alike where one end is within the margin": (
        "supported_above, contradicted_below = max(-low, high)",
        "supported_above, contradicted_below = min(-low, high)",
    ),
    "the opposite sign confirms": ("int((gains > 0).sum())", "int((gains != 0).sum())"),
    "damage is measured from the long sequences": (
        'changes["damage", name, where] = trained - means',
        'changes["damage", name, where] = base - means',
    ),
    # Studies
    "a line of a study loses what all lines share": (
        "changes = base | own",
        "changes = own",
    ),
    "more blocks of a line train the others again": (
        '_WHOLE = ("norm", ',
        '_WHOLE = ("blocks", "norm", ',
    ),
    "a plan lacks the hash of its normaliser": (
        """hashes([f"attentions/{params['attention']}.py", f"norms/{params['norm']}.py", task_file])""",
        """hashes([f"attentions/{params['attention']}.py", task_file])""",
    ),
    "a plan lacks the plain engine": (
        'names += sorted(f"plain/{path.name}" for path in (PACKAGE / "plain").glob("*.py"))',
        "names += []",
    ),
    "a plan overlooks what a normaliser imports": ("left += _imported(name, source)", "left += []"),
    "the results of a test without weights are removed": (
        "elif train.outs[0].workspace_status():",
        "elif False:",
    ),
    "a board's mean has the longest training length": (
        "by_length.columns.to_numpy() > longest",
        "by_length.columns.to_numpy() >= longest",
    ),
    "of equal loss is the nearest by difference, not in ratio": (
        '(models["log_loss"] - log_loss).abs()',
        '(np.exp(models["log_loss"]) - np.exp(log_loss)).abs()',
    ),
    "at equal loss the model with the lower loss stays": (
        'is_ours_moved = our_last["log_loss"] < their_last["log_loss"]',
        'is_ours_moved = our_last["log_loss"] > their_last["log_loss"]',
    ),
    "a board's Holm corrects over both tasks": ('frame.groupby(["task", "rule"])["p"]', 'frame.groupby("rule")["p"]'),
    "a line is compared with itself": ("theirs = rows(results, task=task, line=baseline)", "theirs = own"),
    # Files, processes, DVC
    "all attention maps have one folder": ("RUNS / kind / self.attention / self.norm", "RUNS / kind / self.norm"),
    "every training has the softmax": ("run.task, run.norm, run.attention, given)", "run.task, run.norm, given=given)"),
    "an unknown key is accepted": ('extra="forbid", strict=True', 'extra="ignore", strict=True'),
    "a file appears before it is whole": ("            save(temporary)\n", "            save(path), save(temporary)\n"),
    "a checksum is not compared": ('if _sha256(arrays) != _metadata(file).get("sha256"):', "if False:"),
    "results in the order in which jobs end": (
        "[future.result() for future in futures]",
        "[future.result() for future in finished]",
    ),
    "train does not declare its code": (
        "      - src/vanishing_variance/engine\n      - src/vanishing_variance/norms/${item.norm}.py\n"
        "      - src/vanishing_variance/tasks/${item.task}.py\n    params: [seed, seeds_per_block, model,",
        "      - src/vanishing_variance/norms/${item.norm}.py\n"
        "      - src/vanishing_variance/tasks/${item.task}.py\n    params: [seed, seeds_per_block, model,",
    ),
    "evaluate does not declare the weights": (
        "      - runs/trained/${item.attention}/${item.norm}/${item.range}/${item.task}-${item.block}\n"
        "      - stages/evaluate.py\n",
        "      - stages/evaluate.py\n",
    ),
    "figures does not declare a parameter": (
        "params: [norm, attention, train_also_on, blocks, figures, ranges]",
        "params: [norm, attention, train_also_on, blocks, ranges]",
    ),
    "a core is given to two stages": ("min(command.processes, most, free)", "min(command.processes, most)"),
    "a stage begins when one input is there": (
        "if well.issuperset(self._inputs[name])]",
        "if well.intersection(self._inputs[name]) or not self._inputs[name]]",
    ),
    "records are in the order in which stages end": (
        "while self._unrecorded and self._unrecorded[0] in self.fates:",
        "while name in self._unrecorded and not self._unrecorded.sort(key=name.__ne__):",
    ),
    "dvc.lock loses the other stages": ('parse_yaml_for_update(text, path) or {"schema": "2.0"}', '{"schema": "2.0"}'),
    "training needs matplotlib": (
        "from vanishing_variance.figures.config import Figures\nfrom vanishing_variance.harness.errors",
        "import matplotlib\nfrom vanishing_variance.figures.config import Figures\n"
        "from vanishing_variance.harness.errors",
    ),
    "a review overlooks changed inputs": ('elif state != "deleted":', 'elif state == "new":'),
}


def git(*words: str, folder: Path = ROOT) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def place(folder: Path, old: str) -> Path | None:
    """Return the one file of the sources that has a text, None where there is none or more than one."""
    listed = git("ls-files", "src", "stages", "dvc.yaml", "*/dvc.yaml", folder=folder).split()
    paths = [folder / name for name in listed if Path(name).suffix in (".py", ".c", ".yaml")]
    found = [path for path in paths if old in path.read_text()]
    return found[0] if len(found) == 1 and found[0].read_text().count(old) == 1 else None


def near(folder: Path, changed: Path) -> list[str]:
    """Return the folders of tests with a name in the path of the changed file; of a graph or a stage, tests/graph."""
    parts = changed.relative_to(folder).parts
    names = {"graph"} if changed.suffix == ".yaml" or parts[0] == "stages" else set(parts)
    return [f"tests/{name}" for name in sorted(names) if (folder / "tests" / name).is_dir()]


def failed(folder: Path, tests: list[str]) -> str:
    """Return the first test that fails, or why the run did not end well; empty where all pass."""
    try:
        done = subprocess.run(
            [*PYTEST, *tests], cwd=folder, timeout=SECONDS, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode in (0, 5):
        return ""
    named = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", done.stdout, re.MULTILINE)
    return named[1].removeprefix("tests/") if named else done.stdout[-200:]


@contextmanager
def made(folder: Path, name: str) -> Iterator[Path]:
    """Make a mistake in a worktree while the context lasts; yield the file."""
    old, new = MISTAKES[name]
    path = place(folder, old)
    if path is None:
        sys.exit(f"{name}: the text stands nowhere, or in more than one place: {old}")
    text = path.read_text()
    path.write_text(text.replace(old, new))
    try:
        yield path
    finally:
        path.write_text(text)


def main() -> None:
    """Make the mistakes; print what finds each, and exit with 1 where nothing does."""
    parser = argparse.ArgumentParser(prog="mistakes")
    parser.add_argument("--only", action="append", choices=MISTAKES, help="may be given several times; without it, all")
    names = parser.parse_args().only or list(MISTAKES)
    not_found = []
    with worktree() as folder:
        for name in names:
            with made(folder, name) as path:
                tests = near(folder, path)
                found = (tests and failed(folder, tests)) or failed(folder, WHOLE)
            print(f"{name}: {found or '**nothing**'}", flush=True)
            if not found:
                not_found.append(name)
    sys.exit(bool(not_found))


@contextmanager
def worktree() -> Iterator[Path]:
    """Yield a worktree of the last commit, in a temporary folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "worktree"
        git("worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
        try:
            yield folder
        finally:
            git("worktree", "remove", "--force", str(folder))


if __name__ == "__main__":
    main()
