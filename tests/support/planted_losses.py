"""Corpora in which one source loses nearly everything for a reason other than copies, and clean ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle, islice, product

from es_simhash._core.json_codec import Json
from examples.corpus import LANGUAGES, Writer, language, make_corpus
from tests.support.filled_forms import filled

SITE = "bad.example"
_HONEST = ("original", "copy", "variant", "edited", "reordered", "truncated")


def clean(size: int = 600, seed: int = 5, languages: tuple[str, ...] = tuple(LANGUAGES)) -> list[Json]:
    """Return stories of four sites in each language, with their true copies; a third go."""
    chosen = random.Random(seed)
    found = [each for each in make_corpus(size, seed=seed) if each.kind in _HONEST and each.language in languages]
    return [
        {
            "id": each.id,
            "site": f"{each.language}{chosen.randrange(4)}.example",
            "published": f"{chosen.randrange(2015, 2026)}-03-01",
            "body": each.text,
        }
        for each in found
    ]


def planted(kind: str, count: int = 200, seed: int = 1) -> list[Json]:
    """Return the same with a bad site of this kind, in any order."""
    chosen = random.Random(f"{kind} {seed}")
    bad = [
        {"id": f"bad{number}", "site": SITE, "published": f"{2015 + number % 11}-05-05", "body": text}
        for number, text in enumerate(KINDS[kind](count, chosen))
    ]
    found = [*clean(), *bad]
    chosen.shuffle(found)
    return found


def _forms(count: int, chosen: random.Random) -> list[str]:
    return [text for template in range(2) for text in filled("en", template, count // 2, chosen.randrange(99))]


def _words(chosen: random.Random, count: int) -> str:
    own = language("en")
    return " ".join(own.body(Writer(own, chosen).story(3)).split()[:count])


_DISCLAIMER = (
    "This e-mail and any files transmitted with it are confidential and intended solely for the use of the person or "
    "office to which they are addressed. If you have received it in error, please notify the system manager. If you "
    "are not the named addressee, do not disseminate, distribute or copy this e-mail. Please notify the sender at once "
    "and delete it from your system. Taking any action in reliance on the contents is strictly prohibited. The company "
    "accepts no liability for damage caused by any virus transmitted by this e-mail, nor for delays on its way."
)


def _disclaimers(count: int, chosen: random.Random) -> list[str]:
    return [f"{_words(chosen, 10)}\n\n-- \n{_DISCLAIMER}" for _ in range(count)]


def _noise(count: int, chosen: random.Random) -> list[str]:
    return [" ".join(chosen.choices(("l1", "|I", "..", "~~", "i!", "'`", "1l"), k=150)) for _ in range(count)]


_STUB = (
    "Diese Seite ist noch nicht in Ihre Sprache übersetzt worden. Der englische Text steht unter dem Verweis am Ende "
    "dieser Seite. Wenn Sie helfen möchten, melden Sie sich an, und wählen Sie im Menü den Punkt Übersetzen. "
    "Freiwillige prüfen jede Übersetzung, bevor sie erscheint. Vielen Dank für Ihre Hilfe und Ihre Geduld mit uns."
)


def _stubs(count: int, chosen: random.Random) -> list[str]:
    return [f"{_words(chosen, 4).title()}\n\n{_STUB}" for _ in range(count)]


_LICENCE = """\
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#     http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""
_VERBS = ("load", "save", "parse", "send", "read", "find", "make", "drop", "join")
_NOUNS = ("user", "order", "page", "file", "row", "key", "node")


def _code(count: int, chosen: random.Random) -> list[str]:
    names = [f"{verb}_{noun}" for verb, noun in product(_VERBS, _NOUNS)]
    drawn = (chosen.sample(names, 4) for _ in range(count))
    return [
        f"{_LICENCE}\nimport {a}\nfrom {b} import {c}\n\n"
        f"def {d}({c}):\n    return {a}.{b}({c}, {chosen.randrange(99)})\n"
        for a, b, c, d in drawn
    ]


def _logs(count: int, chosen: random.Random) -> list[str]:
    said = (
        "INFO [scheduler] the queue default has finished its scheduled run, all workers are idle, no messages are "
        "left, the next poll follows in five seconds"
    )
    return [f"2026-03-{_two(chosen)} 1{number % 9}:{_two(chosen)}:00 {said}, job={number}" for number in range(count)]


def _two(chosen: random.Random) -> int:
    return chosen.randrange(10, 29)


def _tables(count: int, chosen: random.Random) -> list[str]:
    head = "station;date;temperature;humidity;quality;remark"

    def row(day: int) -> str:
        measured = f"{chosen.randrange(300) / 10};{chosen.randrange(100)}"
        return f"Berlin Tempelhof;2026-03-{day:02};{measured};calibrated by the national service;none"

    return ["\n".join([head, *map(row, range(1, 8))]) for _ in range(count)]


def _empty(count: int, chosen: random.Random) -> list[str]:
    said = ("No description available.", "Page not found", "This item has no description.", "N/A, see the title.")
    return list(islice(cycle(said), count))


# What makes the texts of each kind.
KINDS: dict[str, Callable[[int, random.Random], list[str]]] = {
    "filled-in forms": _forms,
    "e-mail disclaimers": _disclaimers,
    "unreadable scans": _noise,
    "translated stubs": _stubs,
    "source code with a licence": _code,
    "logs": _logs,
    "tables": _tables,
    "empty bodies": _empty,
}
REASONS = {
    "filled-in forms": "form",
    "e-mail disclaimers": "boilerplate",
    "unreadable scans": "noise",
    "translated stubs": "boilerplate",
    "source code with a licence": "code",
    "logs": "log",
    "tables": "table",
    "empty bodies": "empty",
}
