"""Print what a pull request changes in the results, as one comment in Markdown; not a stage of the graph."""

from pathlib import Path

from vanishing_variance.command import Arguments, run
from vanishing_variance.io.files import write_text
from vanishing_variance.io.git import parted
from vanishing_variance.io.states import facts, trial
from vanishing_variance.review.comment import blocks
from vanishing_variance.review.markdown import code, comment


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--base", default="main", help="the revision to compare with, from where HEAD left it on")
    parser.add_argument("--smoke", action="store_true", help="run both at the scale of tests/smoke.yaml: minutes")
    parser.add_argument("--output", type=Path, help="a file to write it to, besides")
    chosen = parser.parse_args()
    root = Path()
    base = parted(root, chosen.base)
    tried = trial(root, base) if chosen.smoke else None
    text = comment(blocks(facts(root, base), f"{code(chosen.base)} ({base[:12]})", tried))
    if chosen.output:
        write_text(chosen.output, text)
    print(text, end="")


if __name__ == "__main__":
    run(main)
