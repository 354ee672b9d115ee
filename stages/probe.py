"""Measure how far components of a pretrained decoder's attention outputs spread, against length (Figure 1)."""

from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness.frames import widened, write_csv
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.deviations import Subject, check_components, measure, select
from vanishing_variance.probe.pretrained import find, load
from vanishing_variance.probe.sequences import read_prose, tokenised, vocabulary
from vanishing_variance.results.columns import rounded


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    settings: Probe = get_param(params, "probe", Probe)
    root: int = get_param(params, "seed", Index)
    text, digest = read_prose(settings.text)
    checkpoint = find(settings.model, settings.revision)
    config = checkpoint.text
    layers = select(settings, config)
    depth = max(layers) + 1
    weights = config.hidden_size * config.vocab_size + depth * 8 * config.hidden_size**2  # about
    require_memory(weights, {"probe.model": settings.model, "probe.layers": depth - 1})
    decoder, tokenizer = load(checkpoint, depth)
    check_components(settings, decoder, layers)
    tokens = vocabulary(tokenizer, config.vocab_size)
    corpus = tokenised(tokenizer, settings.text, text)
    subject = Subject(decoder, layers, tokens, corpus)
    table = measure(subject, settings, root)
    table.insert(0, "model", checkpoint.name)
    table.insert(1, "revision", checkpoint.revision)
    table.insert(2, "text", f"{settings.text} {digest}")
    write_csv(PLOTS / "figure1.csv", rounded(widened(table, "deviation")))


if __name__ == "__main__":
    run_script(main)
