"""Print what a branch changes in the results of a DVC project, as a comment in Markdown."""

import argparse
import sys
from pathlib import Path

from results_review.commands import ReviewError, merge_base
from results_review.comment import comment, shortened


def main() -> None:
    """Compare the working tree with the commit where it left a revision. A mistake is one line and exit code 2."""
    parser = argparse.ArgumentParser("results_review", description=__doc__, allow_abbrev=False)
    parser.add_argument("--base", default="main", help="the revision that the branch is to be merged into (main)")
    parser.add_argument("--comment", type=Path, help="also write it to this file, as short as GitHub takes it")
    arguments = parser.parse_args()
    try:
        text = comment(merge_base(arguments.base))
    except ReviewError as error:
        if arguments.comment:  # in place of an older one
            arguments.comment.write_text(f"error: {error}\n", encoding="utf-8")
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    if arguments.comment:
        arguments.comment.write_text(shortened(text), encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
