"""Print what a branch changes in the results of a DVC project, as one comment in Markdown."""

import argparse
import sys
from pathlib import Path

from results_review.commands import ReviewError, merge_base
from results_review.comment import comment
from results_review.compare import compare
from results_review.smoke import try_both


def main() -> None:
    """Compare the working tree with where it left a revision. A mistake is one line and exit code 2."""
    parser = argparse.ArgumentParser("results_review", description=__doc__, allow_abbrev=False)
    parser.add_argument("--base", default="main", help="the revision that the branch is to be merged into (main)")
    parser.add_argument("--output", type=Path, help="also write the comment to this file")
    parser.add_argument("--smoke", metavar="FILE", help="also run both states, with this file's parameters: minutes")
    parser.add_argument(
        "--keep", nargs="+", default=[], metavar="KEY", help="parameters that --smoke leaves as they are"
    )
    chosen = parser.parse_args()
    root = Path.cwd()
    try:
        base = merge_base(root, chosen.base)
        trial = try_both(root, base, chosen.smoke, chosen.keep) if chosen.smoke else None
        text = comment(compare(root, base), chosen.base, base, trial)
        if chosen.output:
            chosen.output.parent.mkdir(parents=True, exist_ok=True)
            chosen.output.write_text(text, encoding="utf-8")
    except (ReviewError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    print(text, end="")


if __name__ == "__main__":
    main()
