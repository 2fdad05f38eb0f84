"""A headless Chromium that shows a page of Superset."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import requests
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from tests.superset.client import PASSWORD, USER

_PATIENCE = 90
_SETTLED = 3
"""Seconds until the charts have to be there, and after that for their animations."""


def take_picture(address: str, path: str, charts: int, target: Path) -> str:
    """Write a picture of a dashboard once all its charts are drawn; return the text of the page."""
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1300,1000"):
        options.add_argument(argument)
    # Both from the system: Selenium would fetch what it does not find.
    options.binary_location = _installed("chromium")
    browser = webdriver.Chrome(options=options, service=Service(_installed("chromedriver")))
    try:
        browser.get(f"{address}/login/")
        for name, value in _logged_in(address).items():
            browser.add_cookie({"name": name, "value": value})
        browser.get(f"{address}{path}")
        _wait(browser, charts)
        browser.save_screenshot(str(target))
        return str(browser.find_element(By.TAG_NAME, "body").text)
    finally:
        browser.quit()


def _installed(program: str) -> str:
    found = shutil.which(program)
    assert found is not None, f"There is no {program}; Debian has it in the packages chromium and chromium-driver."
    return found


def _logged_in(address: str) -> dict[str, str]:
    session = requests.Session()
    session.post(f"{address}/login/", data={"username": USER, "password": PASSWORD}, timeout=60)
    return dict(session.cookies.get_dict())


def _wait(browser: webdriver.Chrome, charts: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        drawn = browser.find_elements(By.CSS_SELECTOR, ".slice_container")
        waiting = browser.find_elements(By.CSS_SELECTOR, ".loading, [data-test='loading-indicator']")
        if len(drawn) >= charts and not waiting:
            time.sleep(_SETTLED)
            return
        time.sleep(0.5)
    raise AssertionError(f"The dashboard does not show its {charts} charts: {browser.find_element(By.TAG_NAME, 'body').text[:2000]}")
