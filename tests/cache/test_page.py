"""The page and its charts as text."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.cache.chart import Bar, Point, rate_lines, stacked_bars
from preset_engine.cache.document import Baseline, Document
from preset_engine.cache.page import render_page, visible
from preset_engine.cache.prices import Money
from preset_engine.cache.query import Question
from preset_engine.cache.report import report_calls
from preset_engine.errors import Note
from preset_engine.log.call import Call, Counts, SkipKind

HOSTILE = [
    "</title><script>window.hit = 1</script>",
    '"><img src=http://127.0.0.1:9/x.png onerror="window.hit = 2">',
    "</svg><iframe src='http://127.0.0.1:9/'></iframe>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "javascript:window.hit=3",
    "<style>@import 'http://127.0.0.1:9/a.css'</style>",
    "\u202egnp.exe\x00\x1b[2J",
    "<a href='http://127.0.0.1:9/'>x</a>" + "w" * 5000,
]


def document(names, **more):
    calls = [
        Call(
            Counts(1000, 100 * turn, 50, 9),
            "test",
            day * 86_400_000 + turn,
            f"s{n}",
            name,
            name,
            name,
            name,
            name,
        )
        for n, name in enumerate(names)
        for day in range(3)
        for turn in range(3)
    ]
    report = report_calls(calls, Question(by=("caller", "model")))
    return Document(report, tuple(names), "sqlite", **more)


def rich_page(names):
    """A page with every section, all its texts from `names`."""
    text = [names[number % len(names)] for number in range(5)]
    return render_page(
        document(
            names,
            skipped=((SkipKind.UNREADABLE, text[0], 3),),
            notes=(Note("report-test", text[1]),),
            baseline=Baseline(8.6, 20.7),
            other=document(names).report,
            other_name=text[2],
            money=Money(text[0], ((text[1], 1.0, 2.0),), (text[4],)),
        )
    )


def hostile_page():
    return rich_page(HOSTILE)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.attributes = set(), []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes += attrs


def tags_of(page):
    parser = Tags()
    parser.feed(page)
    return parser


def test_hostile_names_add_no_element_and_no_attribute():
    plain, hostile = tags_of(rich_page(["a"])), tags_of(hostile_page())
    assert hostile.names <= plain.names
    assert {"script", "iframe", "img", "a", "object", "base", "form"} & hostile.names == set()
    allowed = {
        "class",
        "role",
        "viewbox",
        "aria-label",
        "colspan",
        "content",
        "name",
        "charset",
        "lang",
        "rel",
        "http-equiv",
        "href",
    }
    allowed |= {
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "width",
        "height",
        "points",
        "text-anchor",
    }
    assert {name for name, _ in hostile.attributes} <= allowed
    assert [value for name, value in hostile.attributes if name == "href"] == ["data:,"]


def test_the_page_names_no_address_and_forbids_every_request():
    page = render_page(document(["a"]))
    assert re.findall(r"(?:src|href)\s*=\s*[\"']?(\S{6})", page) == ["data:,"]
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_shows_rates_baseline_and_groups():
    page = render_page(document(["direct-chat"], baseline=Baseline(8.6, 20.7)))
    for piece in (
        "Rates over time",
        "By group",
        "Worst groups",
        "baseline 8.6 %",
        "baseline 20.7 %",
        "direct-chat",
    ):
        assert piece in page


def test_an_empty_report_is_a_page_too():
    page = render_page(Document(report_calls([], Question())))
    assert "No calls." in page


def test_an_equal_document_gives_an_equal_page():
    assert render_page(document(["a", "b"])) == render_page(document(["a", "b"]))


@given(st.text())
def test_a_shown_text_is_short_and_has_no_control_characters(text):
    assert len(visible(text)) <= 200
    assert visible(text).isprintable()


_rates = st.none() | st.floats(0, 1)


@given(
    st.lists(
        st.builds(Point, st.integers(0, 10**13), st.text(max_size=5).map(visible), _rates, _rates),
        max_size=40,
    )
)
def test_the_line_chart_is_well_formed_and_stays_inside(points):
    chart = ElementTree.fromstring(
        rate_lines(sorted(points, key=lambda point: point.at), [("first", 0.086)])
    )
    for mark in chart.iter("circle"):
        assert 46 <= float(mark.get("cx")) <= 845
        assert 20 <= float(mark.get("cy")) <= 220


@given(
    st.lists(
        st.builds(Bar, st.text(max_size=60).map(visible), *[st.integers(0, 10**12)] * 3),
        max_size=20,
    )
)
def test_the_bar_chart_is_well_formed_and_stays_inside(bars):
    chart = ElementTree.fromstring(stacked_bars(bars))
    for rect in chart.iter("rect"):
        assert float(rect.get("x")) + float(rect.get("width")) <= 781
