"""Every deliberate mistake of mistakes.py can still be made."""

from mistakes import MISTAKES, ROOT, place, sources


def test_the_text_of_every_mistake_stands_in_one_place():
    texts = sources(ROOT)
    assert [name for name, (old, _) in MISTAKES.items() if place(texts, old) is None] == []
