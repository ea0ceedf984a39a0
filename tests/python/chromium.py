"""A headless chromium for the tests in this folder (Debian: chromium-driver; PyPI: selenium)."""

import contextlib
import shutil

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "no chromium with its driver (Debian: chromium-driver)"


@contextlib.contextmanager
def started():
    """A driver of a chromium with a window of 1200 by 900 points, which keeps logs of its console and its requests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1200,900", "--force-prefers-reduced-motion"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    driver.set_script_timeout(300)  # of axe-core, where other programs share the machine
    try:
        yield driver
    finally:
        driver.quit()
