"""The report in a real browser: every section, every interaction, no console errors, no requests, no violations that
axe-core calls serious. Needs chromium and its driver (scripts/deps.sh test)."""

import json
import os
import pathlib
import shutil

import pytest

from kith.metrics import Analysis
from kith.report.page import SECTIONS, write_report
from made import Made

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="no chromium with its driver (Debian: chromium-driver)")
HOSTILE = "</script><img src=x onerror=\"window.hacked=1\">'\"&{{7*7}}\u202e"


def program():
    """Two nodes, four workers, two types with a hostile name, steals, homes, idle times, an allocation."""
    m = Made(workers=(0, 0, 1, 1), nodes=2, policy=HOSTILE, machine=HOSTILE)
    a, b = m.type(HOSTILE), m.type("second")
    regions = [m.add("region", address=4096 * i, bytes=4096, home=i % 2) for i in range(40)]
    m.task(0, 1000, flags=1, work=120)
    for i in range(60):
        begin = 20 + 20 * (i // 4)
        length = 15 if i % 7 else 900 if i == 7 else 18
        m.task(begin, min(begin + length, 990), (i + 1) % 4, creator=0, created=i // 4, until=i // 4 + 1, type=a if i % 3 else b)
        m.add("access", task=i + 1, region=regions[i % 40], mode=2, bytes=4096, touched=4096)
        if i >= 40:
            m.add("dependence", task=i + 1, before=i - 39, bytes=4096)
    for i in range(30):
        m.task(400, 410, 3, creator=1, created=30, type=b)
    for i, region in enumerate(regions):
        m.add("home", region=region, node=i % 2, bytes=4096, at=10)
    m.wait(0, 20, 990)
    m.add("steal", worker=3, victim=0, at=20)
    m.add("idle", worker=2, begun=400, ended=900)
    m.add("allocation", address=0, bytes=40 * 4096, at=2, distribution=5, node=-1)
    return m


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    r = program().read(folder)
    write_report(Analysis(r), str(folder / "report.html"), [Analysis(r)], title=HOSTILE, replayed=False)
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1200,900", "--force-prefers-reduced-motion"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    driver.set_script_timeout(300)  # of axe-core, where other programs share the machine
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, page):
    browser.get(page.as_uri())
    yield browser
    said = [entry["message"] for entry in browser.get_log("browser")]
    assert not said, f"the console is silent: {said}"


def test_all_sections_and_no_requests(opened, page):
    expected = ["verdict", "changes", *(name for name, _, _ in SECTIONS)]
    assert [s.get_attribute("id") for s in opened.find_elements(By.CSS_SELECTOR, "main > section")] == expected
    links = [a.get_attribute("href").split("#")[1] for a in opened.find_elements(By.CSS_SELECTOR, "nav a")]
    assert links == expected
    assert len(opened.find_elements(By.CSS_SELECTOR, ".verdict li")) == 3
    asked = [json.loads(e["message"])["message"] for e in opened.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    assert set(asked) == {page.as_uri()}


def test_names_are_text(opened, page):
    assert opened.execute_script("return window.hacked") is None
    assert not opened.find_elements(By.CSS_SELECTOR, "img, iframe, object, embed, link")
    assert "</script><img" in opened.find_element(By.CSS_SELECTOR, "#types tbody th").text
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text and "49" not in opened.find_element(By.TAG_NAME, "h1").text
    assert "\u202e" not in text
    assert "default-src &#39;none&#39;" in text and "http://" not in text and "https://" not in text


def test_the_policy_stops_other_scripts(browser, page, tmp_path):
    changed = tmp_path / "changed.html"
    changed.write_text(page.read_text(encoding="utf-8").replace("</main>", "<script>window.hacked=1</script></main>"),
                       encoding="utf-8")
    browser.get(changed.as_uri())
    assert browser.execute_script("return window.hacked") is None
    assert any("Content Security Policy" in e["message"] for e in browser.get_log("browser"))


def test_the_timeline_zooms(opened):
    shown, canvas = opened.find_element(By.ID, "timeline-range"), opened.find_element(By.ID, "timeline-canvas")
    whole = shown.text
    assert whole.startswith("0 to 1.000 ms")
    opened.find_element(By.CSS_SELECTOR, "[data-do=in]").click()
    assert shown.text.startswith("250.0 µs to 750.0 µs")
    canvas.send_keys("+")
    assert shown.text.startswith("375.0 µs to 625.0 µs")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert shown.text.startswith("450.0 µs to 700.0 µs")
    canvas.send_keys("0")
    assert shown.text == whole
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    canvas.click()  # its middle: workers 1 and 2 at half the time
    assert "worker" in opened.find_element(By.ID, "timeline-at").text
    painted = opened.execute_script("""
        const c = arguments[0], d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, found = new Set();
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) found.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return [...found];""", canvas)
    assert {0x2f6fdb, 0xe0662a, 0xd9dee7} <= set(painted)  # two types, idle


def test_problems_of_the_graph(opened):
    choice = Select(opened.find_element(By.ID, "problem"))
    names = [o.text for o in choice.options]
    assert names[:2] == ["all", "on the critical path"] and "sibling work balance" in names
    choice.select_by_visible_text("sibling work balance")
    hit, every = (len(opened.find_elements(By.CSS_SELECTOR, s)) for s in (".graph.problem .g.hit", ".graph .g"))
    assert 0 < hit < every
    assert " task" in opened.find_element(By.ID, "graph-count").text
    choice.select_by_visible_text("all")
    assert not opened.find_elements(By.CSS_SELECTOR, ".graph.problem")
    first = opened.find_elements(By.CSS_SELECTOR, ".graph .g")[0]
    opened.execute_script("arguments[0].focus()", first)
    opened.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert "from task" in opened.find_element(By.ID, "graph-at").text
    svg = opened.find_element(By.ID, "graph-svg")
    before = svg.size["width"]
    opened.find_element(By.CSS_SELECTOR, "[data-graph=in]").click()
    assert svg.size["width"] > before


def rows(opened):
    return [(tr.get_attribute("aria-level"), tr.get_attribute("aria-expanded"), tr.find_element(By.CSS_SELECTOR, ".label span").text)
            for tr in opened.find_elements(By.CSS_SELECTOR, "#tree tbody tr")]


def keys(opened, *pressed):
    for key in pressed:
        opened.switch_to.active_element.send_keys(key)


def test_the_tree_opens_by_keys(opened):
    at_first = rows(opened)
    assert [r[2] for r in at_first][:2] == ["all tasks", "task 0"] and at_first[1][:2] == ("2", "true")
    opened.execute_script("document.querySelector('#tree tbody tr').focus()")
    keys(opened, Keys.ARROW_LEFT)
    assert len(rows(opened)) == 1 and rows(opened)[0] == ("1", "false", "all tasks")
    keys(opened, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)  # opens, then goes down
    assert opened.switch_to.active_element.get_attribute("aria-level") == "2"
    keys(opened, Keys.ENTER, Keys.ARROW_DOWN)
    assert len(rows(opened)) == 2  # the task closes; there is nothing below to go to
    said = opened.find_element(By.ID, "tree-at").text
    assert opened.switch_to.active_element.find_element(By.CSS_SELECTOR, ".label span").text in said and "of work" in said
    keys(opened, Keys.END)
    assert opened.switch_to.active_element == opened.find_elements(By.CSS_SELECTOR, "#tree tbody tr")[-1]
    keys(opened, Keys.HOME, Keys.ARROW_LEFT)
    assert len(rows(opened)) == 1


def test_the_tree_opens_by_pointer_and_shows_problems(opened):
    opened.find_element(By.CSS_SELECTOR, "[data-tree=less]").click()
    before = len(rows(opened))
    opened.find_element(By.CSS_SELECTOR, "[data-tree=more]").click()
    assert len(rows(opened)) > before
    last = [tr for tr in opened.find_elements(By.CSS_SELECTOR, "#tree tbody tr[aria-expanded=true]")][-1]
    number = last.get_attribute("data-i")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", last)
    last.click()
    assert opened.find_element(By.CSS_SELECTOR, f"#tree tr[data-i='{number}']").get_attribute("aria-expanded") == "false"
    choice = Select(opened.find_element(By.ID, "problem"))
    choice.select_by_visible_text("sibling work balance")
    assert opened.find_element(By.ID, "tree-problem").text == "sibling work balance"
    opened.find_element(By.CSS_SELECTOR, "[data-tree=problem]").click()
    here = opened.switch_to.active_element
    assert here.get_attribute("aria-expanded") is None and here.find_element(By.CSS_SELECTOR, ".mark").text == "100 %"
    choice.select_by_visible_text("all")
    assert opened.find_element(By.ID, "tree-problem").text == "largest problem"


def test_tables_sort(opened):
    def tasks():
        return [int(td.get_attribute("data-v")) for td in
                opened.find_elements(By.CSS_SELECTOR, "#types .sortable tbody tr td:nth-child(2)")]
    button = opened.find_elements(By.CSS_SELECTOR, "#types .sort")[1]
    button.click()
    assert tasks() == sorted(tasks(), reverse=True) and len(tasks()) == 3
    button.send_keys(Keys.ENTER)
    assert tasks() == sorted(tasks())


def test_phones_and_keyboards(opened):
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2,
                                                                  "mobile": True})
    try:
        assert opened.execute_script("return document.documentElement.scrollWidth") <= 360
        body = opened.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.TAB)
        assert opened.switch_to.active_element.text == "To the verdict"
        stops = set()
        for _ in range(90):
            opened.switch_to.active_element.send_keys(Keys.TAB)
            stops.add(opened.switch_to.active_element.get_attribute("id"))
        assert {"theme", "timeline-canvas", "problem"} <= stops
        shown = [th.text for th in opened.find_elements(By.CSS_SELECTOR, "#tree thead th") if th.is_displayed()]
        assert shown == ["node", "work", "largest problem"]
        opened.execute_script("document.querySelector('#tree tbody tr').focus()")
        keys(opened, Keys.ARROW_LEFT)
        assert len(rows(opened)) == 1 and opened.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("dark", [False, True])
def test_accessibility(opened, dark):
    axe = pytest.importorskip("axe_core_python")
    script = pathlib.Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    toggle = opened.find_element(By.ID, "theme")
    if (toggle.get_attribute("aria-pressed") == "true") != dark:
        toggle.click()
    for details in opened.find_elements(By.TAG_NAME, "details"):
        opened.execute_script("arguments[0].open = true", details)
    opened.execute_script(script)
    found = opened.execute_async_script("const done = arguments[0]; axe.run(document).then(r => done(r.violations))")
    bad = [(v["id"], v["impact"], [n["html"][:160] for n in v["nodes"][:4]]) for v in found
           if v["impact"] in ("serious", "critical")]
    assert not bad


def test_it_is_small(opened, page):
    assert os.path.getsize(page) < 400_000
