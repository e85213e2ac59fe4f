"""The report's page in a real Chromium: looks, silence on the network, hostile names."""

import os
import shutil

import pytest

from preset_engine.cache.page import render_page
from tests.cache.test_page import HOSTILE, Baseline, document, hostile_page

CHROMIUM = (
    os.environ.get("PRESET_ENGINE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.browser,
    pytest.mark.full,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="needs Debian's package chromium"),  # noqa: PTH110
]


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend):
    api = pytest.importorskip("playwright.async_api", reason="needs playwright")
    async with api.async_playwright() as play:
        chromium = await play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        await chromium.close()


async def opened(browser, page_text, tmp_path, scheme="light"):
    path = tmp_path / "page.html"
    path.write_text(page_text, "utf-8")
    context = await browser.new_context(
        color_scheme=scheme, viewport={"width": 1000, "height": 800}
    )
    page = await context.new_page()
    seen = {"requests": [], "trouble": []}
    page.on("request", lambda request: seen["requests"].append(request.url))
    page.on("pageerror", lambda error: seen["trouble"].append(str(error)))
    page.on("console", lambda message: seen["trouble"].append(message.text))
    page.on("dialog", lambda dialog: seen["trouble"].append(dialog.message))
    await page.goto(path.as_uri())
    await page.wait_for_timeout(300)
    return page, seen, path


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_has_its_charts_in_both_colour_schemes(browser, tmp_path, scheme):
    text = render_page(
        document(["direct-chat", "worker:world-simulator"], baseline=Baseline(8.6, 20.7))
    )
    page, seen, path = await opened(browser, text, tmp_path, scheme)
    assert await page.locator("svg").count() == 2
    assert await page.locator("polyline.later").is_visible()
    back = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = await page.evaluate("getComputedStyle(document.body).color")
    levels = [sum(map(int, colour[4:-1].split(","))) for colour in (back, ink)]
    assert (levels[0] > levels[1]) == (scheme == "light")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture = await page.screenshot(
        full_page=True, path=os.environ.get(f"PRESET_ENGINE_SHOT_{scheme.upper()}")
    )
    assert picture.startswith(b"\x89PNG")
    assert seen == {"requests": [path.as_uri()], "trouble": []}


async def test_hostile_names_run_nothing_and_request_nothing(browser, tmp_path):
    page, seen, path = await opened(browser, hostile_page(), tmp_path)
    assert await page.evaluate("window.hit") is None
    assert await page.locator("script, iframe, img, a").count() == 0
    assert seen == {"requests": [path.as_uri()], "trouble": []}
    shown = await page.locator("body").inner_text()
    assert HOSTILE[0] in shown
    assert "{{ 7 * 7 }}" in shown


async def test_a_narrow_window_scrolls_tables_and_not_the_page(browser, tmp_path):
    page, _, _ = await opened(browser, hostile_page(), tmp_path)
    await page.set_viewport_size({"width": 360, "height": 700})
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_the_page_prints(browser, tmp_path):
    page, _, _ = await opened(browser, render_page(document(["a"])), tmp_path, "dark")
    await page.emulate_media(media="print", color_scheme="dark")
    assert (
        await page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert (await page.pdf()).startswith(b"%PDF")
