import os

import pytest
from browser import NONE, find
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def browser():
    found = find()
    if found is None:
        pytest.fail(f"browser: {NONE}", pytrace=False)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, folders):
    """Opens the page of one of the file's `folders`; what went wrong is in the list `problems`."""
    opened = []

    def visit(name="alone", width=360, height=800, **options):
        problems = []
        shown = browser.new_page(viewport={"width": width, "height": height}, **options)
        opened.append(shown)
        folder = folders[name].as_uri() + "/"
        own = ("data:", folder, folders[name].with_name("leaderboard").as_uri() + "/")
        shown.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        shown.on("pageerror", lambda error: problems.append(str(error)))
        shown.on("request", lambda it: None if it.url.startswith(own) else problems.append(it.url))
        shown.goto(f"{folder}index.html")
        return shown, problems

    yield visit
    for shown in opened:
        shown.close()
