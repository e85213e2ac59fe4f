"""A remembering expander gives what a forgetful one gives, and leaves the same variables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.assembler.recall import RecallingExpander
from preset_engine.assembler.watched import WatchedVariables
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.view import MacroView, Variables

TEXTS = st.sampled_from(
    [
        "{{setvar::a::1}}",
        "{{setvar::a::2}}x",
        "{{getvar::a}}",
        "{{setvar::b::{{getvar::a}}}}",
        "{{addvar::a::1}}{{getvar::a}}",
        "{{incvar::a}}",
        "{{hasvar::b}}",
        "{{deletevar::b}}",
        "{{.a}} {{.b ??= 7}}",
        "{{setglobalvar::g::{{user}}}}{{getglobalvar::g}}",
        "{{if {{getvar::a}}}}yes{{else}}no{{/if}}",
        "{{random::a::b}}",
        "{{nothing}} {{getvar::b}}",
        "{{char}} and {{user}}",
        "{{setvarkey::list::0::v}}{{getvar::list}}",
    ]
)
STATES = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["1", "", 1, True, "x"]))


@given(
    st.lists(st.tuples(STATES, st.lists(TEXTS, max_size=6)), max_size=4),
    st.sampled_from([Engine.new, Engine.native]),
)
def test_turns_of_texts_give_the_same_results_and_variables(turns, engine):
    for state, texts in turns:
        plain = Variables(dict(state), {})
        watched = Variables(WatchedVariables(state), WatchedVariables({}))
        forgetful = Expander(MacroView(user="Noa", char="Mira", variables=plain), engine=engine)
        remembering = RecallingExpander(
            MacroView(user="Noa", char="Mira", variables=watched), engine=engine
        )
        for text in texts:
            assert remembering.expand(text) == forgetful.expand(text)
            assert remembering.last_volatile == forgetful.last_volatile
        assert dict(watched.local) == plain.local
        assert dict(watched.shared) == plain.shared
        assert {n: (u.count, u.place) for n, u in remembering.unknown.items()} == {
            n: (u.count, u.place) for n, u in forgetful.unknown.items()
        }
