from __future__ import annotations

import pickle

import pytest

from es_simhash.errors import EsSimhashError, FormatError, InputError, MissingExtraError, SchemeError, TextError


@pytest.mark.parametrize(
    "error",
    [
        SchemeError("no."),
        FormatError("no."),
        TextError("is no text. Give one.", 3),
        MissingExtraError("jieba", "chinese"),
    ],
)
def test_errors_can_be_sent_to_other_processes(error: EsSimhashError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_error_names_the_text_it_is_about() -> None:
    assert str(InputError("is odd. Mend it.", 7)) == "Text 7 is odd. Mend it."
    assert str(InputError("Nothing fits.")) == "Nothing fits."
