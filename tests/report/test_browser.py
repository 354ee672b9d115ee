"""The page in a real browser, Chromium without a window."""

import os

import pytest
from browser import NONE, find
from checkout import ROOT

PAGE = (ROOT / "plots/report/index.html").as_uri()
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


def test_the_page_shows_everything_with_no_error_no_script_and_no_request(browser):
    errors, requests = [], []
    shown = browser.new_page()
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("request", lambda sent: requests.append(sent.url))
    shown.goto(PAGE)
    shown.wait_for_load_state("networkidle")
    assert errors == []
    own = ("data:", ROOT.as_uri())
    assert [url for url in requests if not url.startswith(own)] == []
    assert shown.locator("script").count() == 0
    assert shown.locator("#tables table").count() >= 8
    assert not all(table.is_visible() for table in shown.locator("table").all())
    shown.evaluate(UNFOLD)
    assert all(table.is_visible() for table in shown.locator("table").all())
    pictures = shown.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures
    assert all(pictures)


@pytest.mark.parametrize("width", [320, 390, 820, 1400])
def test_nothing_but_tables_scrolls_sideways(browser, width):
    shown = browser.new_page(viewport={"width": width, "height": 844})
    shown.goto(PAGE)
    for change in ("0", UNFOLD):
        shown.evaluate(change)
        assert shown.evaluate("document.scrollingElement.scrollWidth") <= width
