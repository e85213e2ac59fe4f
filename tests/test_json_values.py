"""A value of another type than the wanted one counts as absent."""

import pytest

from preset_engine.json_values import as_list, as_object, as_objects, as_text, as_texts

VALUES = (None, True, 0, 1.5, "", "text", [], [1, {"a": 1}, "x"], {}, {"a": None})


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_read_as_the_wanted_type_or_as_absent(value):
    assert as_object(value) == (value if type(value) is dict else {})
    assert as_list(value) == (value if type(value) is list else [])
    assert as_text(value) == (value if type(value) is str else "")
    assert as_text(value, "other") == (value if type(value) is str else "other")


def test_the_objects_and_the_texts_of_a_list_keep_their_order():
    assert as_objects([{"a": 1}, "x", None, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert as_objects({"a": 1}) == []
    assert as_texts(["b", 1, "", None]) == ("b", "")
    assert as_texts("b") == ()
