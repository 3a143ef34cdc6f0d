"""A program that finds for hours with one `Index`, and the client that asks it.

``python -m tests.system.soak.hours.finder INDEX URL`` answers each line of standard input by a line.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.errors import EngineError
from es_simhash.index import Index
from es_simhash.scheme.rerank import Matches
from tests.support.commands import environment

_MOST = 100


class Finder:
    """The program, as a process; it begins again if it has ended."""

    def __init__(self, index: str, url: str) -> None:
        self._command = [sys.executable, "-m", __name__, index, url]
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def ask(self, **question: Any) -> Json:
        """Return the answer, or ``error`` and its ``message``."""
        if self._process is None:
            root = Path(__file__).parents[4]
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                cwd=root,
                env=environment({}),
            )
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            raise EOFError("the finder has ended")
        answer: Json = json.loads(line)
        return answer

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            with self._process:
                self._process = None


def main(name: str, url: str) -> None:
    with closing(Index(name, url)) as index:
        for line in sys.stdin:
            print(json.dumps(_answered(index, json.loads(line))), flush=True)


def _answered(index: Index, question: Json) -> Json:
    try:
        match question:
            case {"refresh": _}:
                index.refresh()
                return {}
            case {"distinct": body}:
                page = index.search(body, distinct=True)
                return {"shown": [[each.hit["_id"], [match.id for match in each.similar]] for each in page]}
            case {"document": document}:
                return _found(index.find(doc=document, size=_MOST))
            case _:
                return _found(index.find(id=question["id"], size=_MOST))
    except EngineError as error:
        return {"error": type(error).__name__, "message": str(error)}


def _found(matches: Matches) -> Json:
    return {"ids": [match.id for match in matches], "complete": matches.complete}


if __name__ == "__main__":
    main(*sys.argv[1:])
