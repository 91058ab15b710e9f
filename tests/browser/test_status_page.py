"""The status page in a real browser: what a person sees of a local endpoint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.unit.local.clients import chat, runtime, whole
from tests.unit.local.definitions import PREFIX_AWARE, component, endpoint, variant
from tests.unit.local.running import Local, running
from warmstack.local.platform.fault_orders import FaultOrder, inflict

pytestmark = pytest.mark.browser
WAIT_SECONDS = 20


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """A headless Chromium."""
    options = Options()
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "there is no chromium; run `make test-browser`"
    assert driver, "there is no chromedriver; run `make test-browser`"
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.add_argument("--window-size=1200,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    hosts = endpoint(variants=(variant(routing=PREFIX_AWARE),))
    parts = endpoint("parts", components=(component(), component("legal", base="chat")))
    with running(hosts, parts, folder=tmp_path) as local:
        yield local


def text(browser: webdriver.Chrome, selector: str) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, selector).text)


def until(browser: webdriver.Chrome, selector: str, wanted: str) -> None:
    WebDriverWait(browser, WAIT_SECONDS).until(lambda _: wanted in text(browser, selector))


def ask(local: Local, body: bytes) -> None:
    whole(runtime(local.url).invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=body))


def test_a_person_sees_where_requests_went_and_why(browser: webdriver.Chrome, local: Local) -> None:
    browser.get(f"{local.url}/_warmstack/")
    until(browser, "#about", "simulated engine, 0 requests")
    assert "No request has come yet." in text(browser, "body")
    demo, parts = '[data-endpoint="demo"]', '[data-endpoint="parts"]'
    assert "PREFIX_AWARE, prefix 1024, threshold 4" in text(browser, demo)
    assert "legal (adapter of chat)" in text(browser, parts)
    for _ in range(2):
        ask(local, chat("the same beginning " * 400))
    until(browser, "#about", "2 requests")
    assert "prefix" in text(browser, "#requests tbody")
    # The second request found its prompt in the cache of the copy that had answered the first.
    until(browser, demo, "hit rate 50 %")
    assert browser.find_elements(By.CSS_SELECTOR, f"{demo} .meter rect")


def test_faults_show_and_markup_in_a_request_stays_text(browser: webdriver.Chrome, local: Local) -> None:
    browser.get(f"{local.url}/_warmstack/")
    until(browser, "#about", "0 requests")
    copy = next(iter(local.platform.endpoints["demo"].copies))
    local.run(inflict(local.platform, FaultOrder(fault="slow", target=copy, seconds=0.5)))
    until(browser, '[data-endpoint="demo"]', "slow by 0.5 s")
    entry = local.services.journal.begin(at=0.0, endpoint="<b id=bad>x</b>", component=None, operation="probe")
    entry.status = 400
    until(browser, "#requests tbody", "<b id=bad>x</b>")
    assert browser.find_elements(By.ID, "bad") == []


def test_the_page_says_when_the_endpoint_is_gone_and_had_no_errors_before(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    browser.get_log("browser")
    with running(endpoint(), folder=tmp_path) as local:
        browser.get(f"{local.url}/_warmstack")
        until(browser, "#about", "0 requests")
        assert browser.get_log("browser") == []
    until(browser, "#about", "The local endpoint does not answer")
