"""A process that condenses texts: it reads pickled settings, then lists of texts, and writes pickled results."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress

from es_simhash.errors import EsSimhashError
from es_simhash.groups.pairs.fingerprint_store import condense


def main() -> None:
    """Answer until the input ends, or the reader has gone."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not mix with the answers
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
