"""The page in a real browser, Chromium without a window."""

import os

import pytest
from browser import NONE, find
from made_up_results import draw, rendered

BOARD = "studies/leaderboard/board"
UNFOLD = "document.querySelectorAll('details').forEach(part => part.open = true)"


@pytest.fixture
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = find()
    if path is None:
        pytest.skip(f"browser: {NONE}")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


@pytest.fixture
def index(tmp_path):
    """The page with its pictures."""
    path = tmp_path / "plots/report/index.html"
    path.parent.mkdir(parents=True)
    path.write_text(rendered())
    for name in ("plots/figures/accuracy", "plots/figures/answer", "plots/figures/recorded", BOARD):
        draw(tmp_path / f"{name}.png")
    return path


def test_the_page_shows_everything_with_no_error_no_script_and_no_request(browser, index, tmp_path):
    errors, requests = [], []
    shown = browser.new_page()
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("request", lambda sent: requests.append(sent.url))
    shown.goto(index.as_uri())
    shown.wait_for_load_state("networkidle")
    assert errors == []
    own = ("data:", tmp_path.as_uri())
    assert [url for url in requests if not url.startswith(own)] == []
    assert shown.locator("script").count() == 0
    assert shown.locator("#tables table").count() == 8
    assert [table.is_visible() for table in shown.locator("table").all()] == [True] + [False] * 10
    shown.evaluate(UNFOLD)
    assert all(table.is_visible() for table in shown.locator("table").all())
    pictures = shown.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures == [True] * 4


@pytest.mark.parametrize("width", [320, 390, 820, 1400])
def test_nothing_but_tables_scrolls_sideways(browser, index, width):
    shown = browser.new_page(viewport={"width": width, "height": 844})
    shown.goto(index.as_uri())
    for change in ("0", UNFOLD):
        shown.evaluate(change)
        assert shown.evaluate("document.scrollingElement.scrollWidth") <= width
