"""Settings are truth values, however a server writes them."""

from __future__ import annotations

import pytest

from es_simhash._core.json_paths import is_false, is_true


@pytest.mark.parametrize(
    ("written", "is_on", "is_off"),
    [
        (True, True, False),
        ("true", True, False),
        ("True", True, False),
        (False, False, True),
        ("false", False, True),
        ("False", False, True),
        (None, False, False),
        ("strict", False, False),
        (0, False, False),
    ],
)
def test_a_setting_is_read_as_a_value_or_as_text(written: object, is_on: bool, is_off: bool) -> None:
    assert (is_true(written), is_false(written)) == (is_on, is_off)
