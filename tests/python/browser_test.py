"""The report in a real browser: every section, every interaction, no console errors, no requests, no violations that
axe-core calls serious. Needs chromium and its driver (scripts/deps.sh test)."""

import json
import os
import pathlib

import pytest

import chromium
from kith.metrics import Analysis
from kith.report.page import SECTIONS, write_report
from kith.report.sections import timeline
from made import Made

pytest.importorskip("selenium.webdriver")
from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

pytestmark = pytest.mark.skipif(not (chromium.BROWSER and chromium.DRIVER), reason=chromium.MISSING)
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
    with chromium.started() as driver:
        yield driver


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


def shown_range(opened):
    return opened.find_element(By.ID, "timeline-range").text.split(" of ")[0]


def test_buttons_and_keys_of_the_timeline(opened):
    canvas = opened.find_element(By.ID, "timeline-canvas")

    def press(name):
        opened.find_element(By.CSS_SELECTOR, f"[data-do={name}]").click()
        return shown_range(opened)
    assert press("in") == "250.0 µs to 750.0 µs"
    assert press("left") == "100.0 µs to 600.0 µs" and press("left") == "0 to 500.0 µs"  # no further
    assert press("right") == "150.0 µs to 650.0 µs"
    assert press("out") == "0 to 1.000 ms" and press("in") and press("all") == "0 to 1.000 ms"
    for key, there in (("=", "250.0 µs to 750.0 µs"), ("-", "0 to 1.000 ms"), ("+", "250.0 µs to 750.0 µs"),
                       (Keys.ARROW_LEFT, "100.0 µs to 600.0 µs"), (Keys.HOME, "0 to 1.000 ms")):
        canvas.send_keys(key)
        assert shown_range(opened) == there


def test_wheel_and_dragging_move_the_timeline(opened):
    canvas = opened.find_element(By.ID, "timeline-canvas")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)

    def wheel(down, options="{}"):
        opened.execute_script("""const box = arguments[0].getBoundingClientRect(); arguments[0].dispatchEvent(new WheelEvent('wheel',
            {deltaY: arguments[1], clientX: box.left + box.width / 2, clientY: box.top + 5, cancelable: true, ...%s}))""" % options, canvas, down)
    opened.execute_script("document.activeElement.blur()")
    wheel(-100)
    assert shown_range(opened) == "0 to 1.000 ms"  # the page scrolls
    wheel(-100, "{ctrlKey: true}")
    begin, end = shown_range(opened).split(" to ")
    assert begin.endswith("µs") and end.endswith("µs") and float(end[:-3]) - float(begin[:-3]) == pytest.approx(800, rel=0.01)
    wheel(100, "{ctrlKey: true}")
    assert shown_range(opened) == "0 to 1.000 ms"
    opened.find_element(By.CSS_SELECTOR, "[data-do=in]").click()
    ActionChains(opened).drag_and_drop_by_offset(canvas, 100, 0).perform()
    begin, end = (float(t[:-3]) for t in shown_range(opened).split(" to "))
    assert begin < 250 and end - begin == pytest.approx(500)
    assert canvas.value_of_css_property("cursor") == "grab"


def test_two_fingers_zoom_the_timeline(opened):
    canvas = opened.find_element(By.ID, "timeline-canvas")
    opened.execute_script("""
        const c = arguments[0], box = c.getBoundingClientRect(); c.setPointerCapture = () => {};
        const at = (type, id, x) => c.dispatchEvent(new PointerEvent(type, {pointerId: id, pointerType: 'touch', clientX: box.left + x, clientY: box.top + 5}));
        at('pointerdown', 1, 400); at('pointerdown', 2, 500); at('pointermove', 2, 600); at('pointerup', 1, 400); at('pointerup', 2, 600);""", canvas)
    begin, end = shown_range(opened).split(" to ")
    assert float(end.split()[0]) - float(begin.split()[0]) == pytest.approx(500, rel=0.01)  # twice as far apart


def test_hovering_says_what_is_there(opened):
    canvas, tip = opened.find_element(By.ID, "timeline-canvas"), opened.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(opened).move_to_element_with_offset(canvas, 0, 0).perform()
    assert tip.is_displayed() and tip.text.startswith("worker ") and "(node " in tip.text
    inside = opened.execute_script("const b = arguments[0].getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth && b.bottom <= innerHeight", tip)
    assert inside
    ActionChains(opened).move_to_element(opened.find_element(By.CSS_SELECTOR, "#timeline h2")).perform()
    assert not tip.is_displayed()


def test_light_and_dark(opened):
    def paper():
        return opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    theme = opened.find_element(By.ID, "theme")
    assert theme.get_attribute("aria-pressed") == "false" and paper() == "rgb(246, 247, 249)"
    painted = "const c = document.getElementById('timeline-canvas'); return c.toDataURL()"
    before = opened.execute_script(painted)
    theme.send_keys(Keys.ENTER)
    assert theme.get_attribute("aria-pressed") == "true" and paper() == "rgb(17, 21, 28)"
    assert opened.execute_script(painted) != before  # the canvas is painted anew
    theme.click()
    assert paper() == "rgb(246, 247, 249)"
    try:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        WebDriverWait(opened, 10).until(lambda _: theme.get_attribute("aria-pressed") == "true" and paper() == "rgb(17, 21, 28)")
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_navigation_says_where_one_is(opened):
    for name in ("graph", "time", "provenance"):
        link = opened.find_element(By.CSS_SELECTOR, f"nav a[href='#{name}']")
        link.click()
        top = opened.execute_script("return document.getElementById(arguments[0]).getBoundingClientRect().top", name)
        bottom = opened.execute_script("return innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
        assert 0 <= top < 60 or bottom
        if not bottom:
            WebDriverWait(opened, 10).until(lambda d, a=link: a.get_attribute("aria-current") == "true")
            assert len(opened.find_elements(By.CSS_SELECTOR, "nav a[aria-current]")) == 1
    opened.execute_script("document.querySelector('.skip').focus()")
    opened.switch_to.active_element.send_keys(Keys.ENTER)
    assert opened.current_url.endswith("#verdict")


def test_details_open(opened):
    every = opened.find_elements(By.CSS_SELECTOR, "main details")
    assert len(every) >= 2
    for details in every:
        summary = details.find_element(By.TAG_NAME, "summary")
        opened.execute_script("arguments[0].focus()", summary)
        summary.send_keys(Keys.ENTER)
        assert details.get_attribute("open") and details.find_element(By.TAG_NAME, "table").is_displayed()


def test_groups_are_chosen_by_pointer_and_keys(opened):
    groups, at = opened.find_elements(By.CSS_SELECTOR, ".graph .g"), opened.find_element(By.ID, "graph-at")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", groups[0])
    groups[0].click()
    assert at.text.startswith("task: 1 task from task 0 on") and "chosen" in groups[0].get_attribute("class")
    for key, place in ((Keys.ARROW_RIGHT, 1), (Keys.ARROW_DOWN, 2), (Keys.ARROW_LEFT, 1), (Keys.ARROW_UP, 0), (Keys.ARROW_UP, -1)):
        opened.switch_to.active_element.send_keys(key)
        assert opened.switch_to.active_element == groups[place]
    assert [g.get_attribute("tabindex") for g in groups].count("0") == 1
    at_last = at.text
    opened.execute_script("arguments[0].focus()", groups[1])
    for key in (Keys.ENTER, Keys.SPACE):
        groups[1].send_keys(key)
        assert at.text != at_last and "chosen" in groups[1].get_attribute("class")
    svg = opened.find_element(By.ID, "graph-svg")
    width = svg.size["width"]
    opened.find_element(By.CSS_SELECTOR, "[data-graph=out]").click()
    assert svg.size["width"] < width


@pytest.fixture(scope="module")
def aggregated(tmp_path_factory):
    """A page with cells instead of intervals, and groups instead of tasks."""
    folder = tmp_path_factory.mktemp("aggregated")
    m = Made(workers=(0, 0))
    m.type("second")
    m.task(0, 40_000, flags=1, work=10)
    for i in range(1800):
        m.task(20 * i, 20 * i + 15, i % 2, creator=0, created=0, type=i // 900)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline, "MOST_INTERVALS", 1000)
        write_report(Analysis(m.read(folder)), str(folder / "many.html"), replayed=False)
    return folder / "many.html"


def test_the_timeline_of_many_intervals(browser, aggregated):
    browser.get(aggregated.as_uri())
    canvas, at = browser.find_element(By.ID, "timeline-canvas"), browser.find_element(By.ID, "timeline-at")
    assert "aggregated" in browser.find_element(By.ID, "timeline").text
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(browser).move_to_element_with_offset(canvas, -100, -15).click().perform()
    assert " % " in at.text and at.text.startswith("worker 0")
    for _ in range(12):
        canvas.send_keys("+")
    begin, end = shown_range(browser).split(" to ")
    assert begin != end and shown_range(browser) != "0 to 40.00 ms"
    canvas.send_keys("0")
    assert shown_range(browser) == "0 to 40.00 ms"
    assert not browser.get_log("browser")


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


def test_a_table_sorts_by_its_names(opened):
    def names():
        return [th.text for th in opened.find_elements(By.CSS_SELECTOR, "#types .sortable tbody th")]
    button = opened.find_elements(By.CSS_SELECTOR, "#types .sort")[0]
    button.click()
    down = names()
    button.click()
    assert names() == down[::-1] and names()[-1] == "task" and len(names()) == 3
    head = button.find_element(By.XPATH, "..")
    assert head.get_attribute("aria-sort") == "ascending"
    opened.find_elements(By.CSS_SELECTOR, "#types .sort")[1].click()
    assert head.get_attribute("aria-sort") == "none"


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
        opened.execute_script("window.stops = []; document.addEventListener('focusin', e => stops.push(e.target.id))")
        ActionChains(opened).send_keys(Keys.TAB * 90).perform()
        assert {"theme", "timeline-canvas", "problem"} <= set(opened.execute_script("return stops"))
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
