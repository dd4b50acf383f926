#!/usr/bin/env python3
"""Opens the example reports in a real browser and checks what people would see.

    check.py MAKE_REPORTS [--keep FOLDER]

MAKE_REPORTS is the program that writes the examples. With --keep the reports, a screenshot of each in
light and dark, and a PDF stay in FOLDER. Exit code 77 when there is no Chromium."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from browser import Browser, find_chromium

# Report: charts, maps. The same numbers as in tests/test_report_*.c where both have them.
EXPECTED = {"compare-burgers": (15, 3), "compare-burgers3d": (13, 9), "compare-seeds": (11, 3),
            "run-ode": (18, 0), "compare-ode": (14, 0), "run-burgers": (10, 3), "run-heat": (6, 2),
            "compare-images": (22, 0), "compare-images-seeds": (22, 0), "run-images": (11, 0),
            "run-images-sign": (8, 0), "run-images-young": (6, 0)}

PROBLEM_SECTIONS = ["result", "statement", "curves", "solution", "errors", "scaling", "numbers",
                    "problem", "repeat"]
IMAGE_SECTIONS = ["result", "curves", "inside", "scaling", "numbers", "task", "repeat"]

# What the page says of itself. Text is checked where it is drawn: every label inside its picture's
# stretch of the page, no two labels of one axis on top of each other.
PROBE = r"""(function () {
    var text = [].slice.call(document.querySelectorAll('figure svg text'));
    var wide = document.documentElement.clientWidth;
    var outside = text.filter(function (t) {
        var r = t.getBoundingClientRect();
        return r.left < 0 || r.right > wide;
    }).map(function (t) { return t.textContent; });
    var overlaps = [];
    document.querySelectorAll('figure svg').forEach(function (svg) {
        var boxes = [].map.call(svg.querySelectorAll('text'), function (t) {
            return [t.getBoundingClientRect(), t.textContent];
        });
        for (var i = 0; i < boxes.length; i++)
            for (var j = 0; j < i; j++) {
                var a = boxes[i][0], b = boxes[j][0];
                var x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                var y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (x > 1 && y > 4) overlaps.push(boxes[i][1] + ' / ' + boxes[j][1]);
            }
    });
    var images = [].slice.call(document.querySelectorAll('svg image'));
    return JSON.stringify({
        title: document.title,
        charts: document.querySelectorAll('figure.chart > svg').length,
        maps: document.querySelectorAll('figure svg.maps').length,
        images: images.length,
        heading: document.querySelectorAll('h1').length,
        sections: [].map.call(document.querySelectorAll('section'), function (s) { return s.id; }),
        background: getComputedStyle(document.body).backgroundColor,
        ink: getComputedStyle(document.body).color,
        soft: getComputedStyle(document.querySelector('footer')).color,
        outside: outside, overlaps: overlaps,
        scrolls: document.documentElement.scrollWidth > wide
    });
})()"""


def luminance(colour):
    parts = [int(p) / 255 for p in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Checks:
    def __init__(self):
        self.failed = 0

    def that(self, condition, what):
        if not condition:
            self.failed += 1
            print("FAILED", what)


def look(browser, checks, folder, name, dark, width):
    where = f"{name}, {'dark' if dark else 'light'}, {width} px: "
    browser.look(width=width, dark=dark)
    browser.open(os.path.join(folder, name, "report.html"))
    page = json.loads(browser.evaluate(PROBE))
    loud = [e for e in browser.events if e["method"] in
            ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    asked = [e["params"]["request"]["url"] for e in browser.events
             if e["method"] == "Network.requestWillBeSent"]
    asked = [u for u in asked if not u.startswith(("data:", "file://" + os.path.abspath(folder)))]
    checks.that(not loud, where + f"console: {loud}")
    checks.that(not asked, where + f"requests: {asked}")
    checks.that(page["title"].endswith("– StableGrad"), where + "title " + page["title"])
    checks.that((page["charts"], page["maps"]) == EXPECTED[name],
                where + f"{page['charts']} charts and {page['maps']} maps")
    checks.that(page["heading"] == 1, where + "one heading")
    wanted = list(IMAGE_SECTIONS if "images" in name else PROBLEM_SECTIONS)
    if name == "run-ode":  # its kernels were measured
        wanted.insert(wanted.index("scaling") + 1, "diagnosis")
    checks.that(page["sections"] == wanted, where + f"sections {page['sections']}")
    checks.that((luminance(page["background"]) < 0.05) == dark, where + "background")
    checks.that(contrast(page["background"], page["ink"]) > 12, where + "contrast of the text")
    checks.that(contrast(page["background"], page["soft"]) > 4.5, where + "contrast of soft text")
    checks.that(not page["scrolls"], where + "the page scrolls sideways")
    if width > 1000:
        checks.that(not page["outside"], where + f"labels outside the page: {page['outside']}")
        checks.that(not page["overlaps"], where + f"labels overlap: {page['overlaps']}")


def hover(browser, checks, name, where="svg[data-x]"):
    """The read-out in the middle of a chart names the step, the lines and their values."""
    left, top, low, high, log = json.loads(browser.evaluate(
        "(function(){var s=document.querySelector('" + where + "');s.scrollIntoView();"
        "var r=s.getBoundingClientRect(),x=s.dataset.x.split(' ').map(Number),"
        "w=s.viewBox.baseVal.width;return JSON.stringify([r.left+r.width*(x[2]+x[3])/2/w,"
        "r.top+r.height/2,x[0],x[1],x[4]])})()"))
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=left, y=top)
    tip = browser.evaluate("document.getElementById('tip').innerText")
    checks.that(tip.startswith("step ") and tip.count("\n") >= 1, f"{name}: read-out '{tip}'")
    middle = (low * high) ** 0.5 if log else (low + high) / 2
    at = float(tip.split("\n")[0][5:])
    checks.that(abs(at - middle) < 0.01 * high, f"{name}: read-out at {at}, not {middle}")


def slide(browser, checks, name):
    """Each slider shows one picture, another after an arrow key; in print all of them are gone."""
    sliders = browser.evaluate("document.querySelectorAll('.slider').length")
    wanted = {"run-heat": 1, "compare-burgers3d": 6, "compare-seeds": 2}.get(name, 0)
    checks.that(sliders == wanted, f"{name}: {sliders} sliders")
    if not sliders:
        return
    shown = ("(function(){var s=document.querySelector('.slider');return JSON.stringify("
             "[[].filter.call(s.querySelectorAll('[data-at]'),function(f){return !f.hidden})"
             ".map(function(f){return f.dataset.at}),s.querySelector('output').textContent])})()")
    browser.evaluate("document.querySelector('.slider input').focus()")
    before, told = json.loads(browser.evaluate(shown))
    checks.that(len(before) == 1 and told == "= " + before[0].replace("-", "\u2212"),
                f"{name}: a slider shows {before}, says {told}")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="ArrowLeft", code="ArrowLeft",
                     windowsVirtualKeyCode=37)
    after, told = json.loads(browser.evaluate(shown))
    checks.that(len(after) == 1 and after != before, f"{name}: after a key it shows {after}")


def main():
    path = find_chromium()
    if not path:
        print("no Chromium (Debian: chromium)")
        return 77
    keep = sys.argv[3] if len(sys.argv) > 3 and sys.argv[2] == "--keep" else None
    folder = keep or tempfile.mkdtemp(prefix="stablegrad-reports-")
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    checks = Checks()
    browser = Browser(path)
    try:
        for name in EXPECTED:
            for dark in (False, True):
                look(browser, checks, folder, name, dark, 1100)
                if keep:
                    height = browser.evaluate("document.documentElement.scrollHeight")
                    browser.look(height=int(height), dark=dark)
                    browser.screenshot(f"{folder}/{name}-{'dark' if dark else 'light'}.png")
                    browser.look(dark=dark)
            hover(browser, checks, name)
            slide(browser, checks, name)
            if "images" in name:
                hover(browser, checks, name, "#inside svg[data-x]")
            look(browser, checks, folder, name, False, 380)
            browser.look(dark=True)
            pdf = browser.pdf()
            checks.that(pdf[:5] == b"%PDF-" and len(pdf) > 20000, f"{name}: PDF")
            if keep:
                with open(f"{folder}/{name}.pdf", "wb") as file:
                    file.write(pdf)
    finally:
        browser.close()
        if not keep:
            shutil.rmtree(folder)
    print("reports in the browser:", "right" if not checks.failed else f"{checks.failed} failures")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
