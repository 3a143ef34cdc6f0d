"""Tables of the reference that are made of the code; ``python -m tools.reference_tables`` writes them again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks.tables import tables_of
from es_simhash._core import environment
from es_simhash._core.json_codec import Json
from es_simhash.cli.show import output
from es_simhash.gate import asgi
from es_simhash.live import telemetry
from es_simhash.live.doctor.facts import CODES
from es_simhash.live.telemetry import Metric
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import KeyForm, Layout
from tests.layers import LAYERS
from tools import ROOT, limits

FOLDER = ROOT / "docs" / "reference"


def _exit_codes() -> str:
    return _table(("code", "meaning"), ((str(code), meaning) for code, meaning in output.MEANINGS.items()))


def _environment() -> str:
    return _table(("variable", "what it is"), ((f"`{name}`", text) for name, text in environment.MEANINGS.items()))


def _limits() -> str:
    return _table(("where", "what", "at most", "beyond"), limits.rows())


def _fingerprint() -> str:
    return _mapping(own_fields.properties(Scheme()))


def _group() -> str:
    return _mapping(mapping.PROPERTIES)


def _layouts() -> str:
    return _table(("`keys`", "field", "mapping"), (row for form in get_args(KeyForm) for row in _layout(form)))


def _layout(form: KeyForm) -> Iterable[tuple[str, ...]]:
    own = own_fields.properties(replace(Scheme(), layout=Layout(form)))
    keys = {name: each for name, each in own.items() if name.startswith(("block", "band"))}
    for kind in ("block", "band"):
        names = [name for name in keys if name.startswith(kind)]
        named = f"`{names[0]}` … `{names[-1]}`" if names[1:] else f"`{names[0]}`"
        yield f"`{form}`", named, _parameters(keys[names[0]])


def _findings() -> str:
    accepted = {True: "yes", False: ""}
    rows = (
        (f"`{name}`", ", ".join(code.levels), accepted[code.may_be_accepted], code.about)
        for name, code in CODES.items()
    )
    return _table(("code", "levels", "may be accepted", "what it is about"), rows)


def _metrics_of_jobs() -> str:
    return _metrics(telemetry.METRICS)


def _metrics_of_gates() -> str:
    return _metrics(asgi.METRICS)


def _metrics(metrics: Iterable[Metric]) -> str:
    names = {each: ", ".join(f"`{label}`" for label in each.labels) for each in metrics}
    rows = ((f"`{each.name}`", each.kind, labels, each.help) for each, labels in names.items())
    return _table(("metric", "type", "labels", "what it is"), rows)


def _tree() -> str:
    lines = [_room(ROOT / "es_simhash" / name) for name in LAYERS if not name.startswith("_v")]
    return "".join(f"{line}\n" for line in ["```text", "es_simhash/", *lines, "```"])


def _room(path: Path) -> str:
    """Describe a module of the root, or a folder, by the first line of its docstring; name the folders in it."""
    is_folder = path.is_dir()
    source = (path / "__init__.py" if is_folder else path.with_suffix(".py")).read_text(encoding="utf-8")
    name = path.name + ("/" if is_folder else "")
    inner = sorted(each.parent.name for each in path.glob("*/__init__.py"))
    folders = f" ({', '.join(inner)})" if inner else ""
    about = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    return f"  {name:<13} {about}{folders}"


def _quality(*names: str) -> str:
    """Show labelled sets from the page about quality: scores of ours and of others, and what each level does."""
    tables = tables_of((ROOT / "docs" / "quality.md").read_text(encoding="utf-8")).values()
    rows = {(table.title, row[0]): dict(zip(table.columns, row, strict=True)) for table in tables for row in table.rows}

    def score(contender: str, name: str) -> str:
        scores = rows["F1 of pairs", contender] | rows["Noise: F1 of pairs", contender]
        return scores[name]

    def line(name: str) -> tuple[str, ...]:
        level = rows["By the built-in table", name]
        others = (
            score(each, name) for each in ("MinHash at 0.8, character 5-grams", "more_like_this, 80% of the score")
        )
        levels = (f"{level[f'{each}: wrong']}, {level[f'{each}: left']}" for each in ("copies", "near", "versions"))
        return f"{name}: {level['origin']}", score("es_simhash, near", name), *others, *levels

    head = ("texts", "F1 at `near`", "of MinHash", "of `more_like_this`", "at `copies`", "at `near`", "at `versions`")
    return _table(head, map(line, names))


def _mapping(properties: Json) -> str:
    return _table(("field", "mapping"), ((f"`{name}`", _parameters(own)) for name, own in properties.items()))


def _parameters(own: Json) -> str:
    return ", ".join([own["type"], *(f"{name}: {str(value).lower()}" for name, value in own.items() if name != "type")])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    first, *others = (f"| {' | '.join(line)} |\n" for line in (head, *rows))
    return "".join([first, f"|{'---|' * len(head)}\n", *others])


TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    FOLDER / "exit-codes-and-environment.md": {"exit codes": _exit_codes, "environment": _environment},
    FOLDER / "limits.md": {"limits": _limits},
    ROOT / "docs" / "how-to" / "monitoring.md": {"metrics": _metrics_of_jobs, "metrics of gates": _metrics_of_gates},
    ROOT / "docs" / "architecture.md": {"tree": _tree},
    ROOT / "docs" / "doctor.md": {"codes": _findings},
    ROOT / "docs" / "how-to" / "chinese.md": {
        "quality": partial(_quality, "zh_tidb_docs_revisions", "laws", "planted_chinese", "traditional")
    },
    ROOT / "docs" / "how-to" / "japanese.md": {
        "quality": partial(_quality, "aozora", "react_ja", "kana", "old_spelling")
    },
    FOLDER / "fields.md": {"fingerprint": _fingerprint, "layouts": _layouts, "group": _group},
}


def with_tables(page: Path) -> str:
    """Return the text of a page with the current tables."""
    return _replaced(page, lambda made: made())


def without_tables(page: Path) -> str:
    """Return the text of any page without its generated tables."""
    return _replaced(page, lambda _: "")


def _replaced(page: Path, table: Callable[[Callable[[], str]], str]) -> str:
    text = page.read_text(encoding="utf-8")
    for name, made in TABLES.get(page, {}).items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}{table(made)}{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    for each in TABLES:
        each.write_text(with_tables(each), encoding="utf-8")
