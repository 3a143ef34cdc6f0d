from __future__ import annotations

import pickle

import pytest

from es_simhash import errors
from es_simhash.cli.show import exits
from es_simhash.errors import EsSimhashError, FormatError, InputError, MissingExtraError, SchemeError, TextError

# Each class of errors chooses: whether it may pass by itself, and so by which code a command ends.
CODES: dict[type[EsSimhashError], int] = {
    errors.EsSimhashError: exits.USAGE,
    errors.SchemeError: exits.USAGE,
    errors.InputError: exits.USAGE,
    errors.ArgumentError: exits.USAGE,
    errors.TextError: exits.USAGE,
    errors.WeightError: exits.USAGE,
    errors.HashError: exits.USAGE,
    errors.DocumentError: exits.USAGE,
    errors.UnsendableError: exits.USAGE,
    errors.FormatError: exits.USAGE,
    errors.EngineError: exits.REFUSED,
    errors.UnreachableError: exits.LATER,
    errors.UntrustedError: exits.REFUSED,
    errors.AccessError: exits.REFUSED,
    errors.ClientVersionError: exits.REFUSED,
    errors.MissingError: exits.REFUSED,
    errors.MappingError: exits.REFUSED,
    errors.SchemeMismatchError: exits.REFUSED,
    errors.IndexStateError: exits.REFUSED,
    errors.ScriptError: exits.REFUSED,
    errors.UnavailableError: exits.LATER,
    errors.UnansweredError: exits.LATER,
    errors.TooLargeError: exits.REFUSED,
    errors.ReaderLostError: exits.LATER,
    errors.InUseError: exits.LATER,
    errors.WritesLostError: exits.REFUSED,
    errors.KernelError: exits.USAGE,
    errors.StorageError: exits.USAGE,
    errors.MissingExtraError: exits.USAGE,
}


def test_each_class_of_errors_has_chosen_its_exit_code() -> None:
    found = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, EsSimhashError)}
    assert found == CODES.keys()


@pytest.mark.parametrize(("kind", "code"), CODES.items(), ids=lambda each: getattr(each, "__name__", None))
def test_an_error_that_may_pass_and_one_that_needs_a_person_end_differently(
    kind: type[EsSimhashError], code: int
) -> None:
    error = kind("x", "y") if kind is MissingExtraError else kind("It failed. Mend it.")
    assert exits.described(error)[0] == code
    assert error.may_pass == (code == exits.LATER)


@pytest.mark.parametrize(
    "error",
    [
        SchemeError("no."),
        FormatError("no."),
        TextError("is not a text. Give one.", 3),
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
