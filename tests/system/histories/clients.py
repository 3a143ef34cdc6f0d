"""Programs that ask again, as clients do: of a gate for new documents, and of a search for its distinct hits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TypeVar

from es_simhash._core.json_codec import Json
from es_simhash._core.rows import as_json
from es_simhash.cli.show import output
from es_simhash.errors import ReaderLostError, UnavailableError, UnreachableError
from es_simhash.gate import Gate, GateOptions
from es_simhash.index import Index
from es_simhash.plans.operations import retry_delays
from tests.support.commands import Run

Result = TypeVar("Result")

_AT_ONCE, _PAGE = 3, 3


def ask_gate(index: str, file: str, patience: str, *target: str, XDG_STATE_HOME: str = "", **_: object) -> Run:
    """Have a gate add the documents of a file, some at once; a run after another has the same journal."""

    def answers() -> Iterator[Json]:
        sources = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
        documents = [{"_id": source["id"], **source} for source in sources]
        waits, state = float(patience), Path(XDG_STATE_HOME, "gate")
        options = GateOptions(syncs=False, patience=waits)
        with _repeated(lambda: Gate(index, target[1], state=state, options=options), waits) as gate:
            for first in range(0, len(documents), _AT_ONCE):
                for verdict in _repeated(partial(gate.add, documents[first : first + _AT_ONCE]), waits):
                    yield as_json(verdict)

    return _run(lambda: {"answers": list(answers())})


def read_distinct(index: str, patience: str, *target: str, **_: object) -> Run:
    """Read all pages of distinct hits in the order of their numbers, from the first one on where a page is lost."""

    def shown() -> list[Json]:
        with Index(index, target[1]) as opened:
            return _repeated(lambda: [hit for page in _pages(opened) for hit in page], float(patience))

    return _run(lambda: {"shown": shown()})


def _pages(index: Index) -> Iterator[list[Json]]:
    body, cursor = {"query": {"match_all": {}}, "size": _PAGE, "sort": ["number"]}, None
    while True:
        page = index.search(body, distinct=True, paged=True, cursor=cursor)
        yield [{"id": each.hit["_id"], "similar": [match.id for match in each.similar]} for each in page]
        cursor = page.cursor
        if cursor is None:
            return


def _repeated(ask: Callable[[], Result], patience: float) -> Result:
    """Return what somebody gets who asks again for some time."""
    waits = retry_delays(patience)
    while True:
        try:
            return ask()
        except (ReaderLostError, UnavailableError, UnreachableError):
            if (delay := next(waits, None)) is None:
                raise
        time.sleep(delay)


def _run(work: Callable[[], Json]) -> Run:
    """Do work, and end as a command does."""
    try:
        summary = work()
    except BaseException as error:
        with redirect_stderr(StringIO()) as said:
            code = output.code_of(error, debug=False)
        return Run(code, "", said.getvalue())
    return Run(output.FINE, json.dumps(summary), "")
