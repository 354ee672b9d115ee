"""Print what a branch changes in the results of a DVC project, as a comment in Markdown."""

import argparse
import sys

from results_review.commands import ReviewError, merge_base
from results_review.comment import comment


def main() -> None:
    """Compare the working tree with the commit where it left a revision. A mistake is one line and exit code 2."""
    parser = argparse.ArgumentParser("results_review", description=__doc__, allow_abbrev=False)
    parser.add_argument("--base", default="main", help="the revision that the branch is to be merged into (main)")
    revision = parser.parse_args().base
    try:
        text = comment(merge_base(revision))
    except ReviewError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print(text, end="")


if __name__ == "__main__":
    main()
