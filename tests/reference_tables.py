"""Tables of the reference that are made of the code; ``python -m tests.reference_tables`` writes them anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from es_simhash import environment, fields, group_fields
from es_simhash.cli import exits
from es_simhash.fields import Json
from es_simhash.scheme import Scheme
from es_simhash.settings import KeyForm, Layout
from tests.documentation import ROOT

FOLDER = ROOT / "docs" / "reference"


def _exit_codes() -> str:
    return _table(("code", "meaning"), ((str(code), meaning) for code, meaning in exits.MEANINGS.items()))


def _environment() -> str:
    return _table(("variable", "what it is"), ((f"`{name}`", text) for name, text in environment.MEANINGS.items()))


def _fingerprint() -> str:
    return _mapping(fields.properties(Scheme()))


def _group() -> str:
    return _mapping(group_fields.PROPERTIES)


def _layouts() -> str:
    return _table(("`keys`", "field", "mapping"), (row for form in get_args(KeyForm) for row in _layout(form)))


def _layout(form: KeyForm) -> Iterable[tuple[str, ...]]:
    own = fields.properties(replace(Scheme(), layout=Layout(form)))
    keys = {name: each for name, each in own.items() if name.startswith(("block", "band"))}
    for kind in ("block", "band"):
        names = [name for name in keys if name.startswith(kind)]
        named = f"`{names[0]}` … `{names[-1]}`" if names[1:] else f"`{names[0]}`"
        yield f"`{form}`", named, _parameters(keys[names[0]])


def _mapping(properties: Json) -> str:
    return _table(("field", "mapping"), ((f"`{name}`", _parameters(own)) for name, own in properties.items()))


def _parameters(own: Json) -> str:
    return ", ".join([own["type"], *(f"{name}: {str(value).lower()}" for name, value in own.items() if name != "type")])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    FOLDER / "exit-codes-and-environment.md": {"exit codes": _exit_codes, "environment": _environment},
    FOLDER / "fields.md": {"fingerprint": _fingerprint, "layouts": _layouts, "group": _group},
}


def with_tables(page: Path) -> str:
    """The text of a page with the tables of now."""
    text = page.read_text(encoding="utf-8")
    for name, made in TABLES[page].items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}{made()}{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    for each in TABLES:
        each.write_text(with_tables(each), encoding="utf-8")
