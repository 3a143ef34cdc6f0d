from __future__ import annotations

import pickle

import pytest

from es_simhash import errors
from es_simhash.cli.show import output
from es_simhash.errors import EsSimhashError, FormatError, InputError, MissingExtraError, SchemeError, TextError

# Each class of errors chooses: whether it may pass by itself, and so by which code a command ends.
CODES: dict[type[EsSimhashError], int] = {
    errors.EsSimhashError: output.USAGE,
    errors.SchemeError: output.USAGE,
    errors.InputError: output.USAGE,
    errors.ArgumentError: output.USAGE,
    errors.TextError: output.USAGE,
    errors.WeightError: output.USAGE,
    errors.HashError: output.USAGE,
    errors.DocumentError: output.USAGE,
    errors.UnsendableError: output.USAGE,
    errors.FormatError: output.USAGE,
    errors.EngineError: output.REFUSED,
    errors.UnreachableError: output.LATER,
    errors.UntrustedError: output.REFUSED,
    errors.AccessError: output.REFUSED,
    errors.ClientVersionError: output.REFUSED,
    errors.MissingError: output.REFUSED,
    errors.MappingError: output.REFUSED,
    errors.SchemeMismatchError: output.REFUSED,
    errors.IndexStateError: output.REFUSED,
    errors.ScriptError: output.REFUSED,
    errors.UnavailableError: output.LATER,
    errors.UnansweredError: output.LATER,
    errors.TooLargeError: output.REFUSED,
    errors.ReaderLostError: output.LATER,
    errors.InUseError: output.LATER,
    errors.WritesLostError: output.REFUSED,
    errors.KernelError: output.USAGE,
    errors.StorageError: output.USAGE,
    errors.MissingExtraError: output.USAGE,
}


def test_each_class_of_errors_has_chosen_its_exit_code() -> None:
    found = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, EsSimhashError)}
    assert found == CODES.keys()


@pytest.mark.parametrize(("kind", "code"), CODES.items(), ids=lambda each: getattr(each, "__name__", None))
def test_an_error_that_may_pass_and_one_that_needs_a_person_end_differently(
    kind: type[EsSimhashError], code: int
) -> None:
    error = kind("x", "y") if kind is MissingExtraError else kind("It failed. Mend it.")
    assert output.described(error)[0] == code
    assert error.may_pass == (code == output.LATER)


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
