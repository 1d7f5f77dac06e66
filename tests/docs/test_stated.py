"""Numbers on the README and the site are those of the files they come from."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def stated(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from docs import stated

    return stated


def test_pages_state_what_the_files_say(stated):
    for item in stated.STATED:
        for page in item.pages:
            text = (ROOT / page).read_text(encoding="utf-8")
            assert item.written(text) == text, f"“{item.words}” in {page} is out of date: run python -m docs.stated."


def test_numbers_are_replaced_across_lines_and_words_are_kept(stated):
    sentence = stated.Sentence(("page",), "it is {} to {} times faster.", "a file", lambda: ("2", "1,300"))
    assert sentence.written("As we said, it is 11\nto 6.5 times\nfaster. It is.") == (
        "As we said, it is 2\nto 1,300 times\nfaster. It is."
    )
    with pytest.raises(ValueError, match="page should say “it is"):
        sentence.written("It is faster.")


def test_tables_are_replaced_as_a_whole(stated):
    table = stated.Table(("page",), "| a |", "a file", lambda: ["| a | b |", "|---|---|", "| 1 | 2 |"])
    assert table.written("Text\n\n| a | c |\n|---|---|\n| 0 | 0 |\n| 3 | 4 |\n\nend\n") == (
        "Text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n"
    )
    with pytest.raises(ValueError, match="page should have a table"):
        table.written("| b |\n")
