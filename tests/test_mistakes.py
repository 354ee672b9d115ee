"""Every deliberate mistake of mistakes.py can still be made."""

from mistakes import MISTAKES, ROOT, place


def test_the_text_of_every_mistake_stands_in_one_place():
    assert [name for name, (old, _) in MISTAKES.items() if place(ROOT, old) is None] == []
