"""A process that condenses texts: a scheme's settings, then lists of texts, come in by pickle, and results go out."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress

from es_simhash.errors import EsSimhashError
from es_simhash.groups.pairs.condense import condense


def main() -> None:
    """Answer until the input ends, or whoever asks does."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing that is printed here may come between
    with suppress(EOFError, pickle.UnpicklingError, BrokenPipeError):
        settings = pickle.load(sys.stdin.buffer)
        while True:
            texts = pickle.load(sys.stdin.buffer)
            try:
                answer: object = condense(settings, texts)
            except EsSimhashError as error:
                answer = error
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    main()
