"""``es-simhash info``: the contents of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.files import output_file
from es_simhash.cli.options.index import index_argument
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.learning import sample
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.plans.init import Info
    from es_simhash.plans.operations import FilesChecked
    from es_simhash.scheme.scheme import Scheme
    from es_simhash.scheme.settings import Passages


@click.command(name="info", cls=EngineVerb)
@index_argument
@click.option("--check", is_flag=True, help="First verify the checksums of all files of an embedded index.")
@output_file("--rarity", "rarity_file", help="Write how rare features are to this file, for dedup and evaluate.")
def command(index: str, prefix: str, check: bool, rarity_file: str | None, target: Target, output: Output) -> None:
    """Show what INDEX holds: its scheme, its fields, and how many documents have fingerprints.

    Example: es-simhash info articles
    """
    from es_simhash.index import Index

    with target.opened(output) as engine:
        opened = Index(index, engine, prefix=prefix)
        checked = _checked(opened) if check else None
        info = opened.info()
        scheme = opened.scheme
    if rarity_file:
        _write_rarity(info, scheme, rarity_file)
    output.result(info, {"keys": _keys(scheme), "files": checked})
    rows = [
        ["engine", info.engine],
        ["indices", ", ".join(info.indices)],
        *([["without fields", ", ".join(info.without_fields)]] if info.without_fields else []),
        ["scheme", f"{info.scheme} ({info.preset})"],
        *([["passages", _passages(scheme.passages)]] if scheme.passages else []),
        ["source fields", ", ".join(info.fields)],
        ["fields under", info.prefix],
        *([["policy", str(info.policy)]] if info.policy.to_json() else []),
        ["documents", f"{info.documents:,}"],
        *([["in no scope", f"{info.unscoped:,}"]] if info.unscoped else []),
        ["with fingerprints", f"{info.fingerprinted:,}"],
        ["without", f"{info.without:,}"],
        *([f"status {status}", f"{count:,}"] for status, count in info.statuses.items() if count),
        *([["rarity", _rarity(info)]] if info.table else []),
        *([["files", f"{checked.files:,} as they were written, {checked.bytes:,} bytes"]] if checked else []),
    ]
    output.table(["property", index], rows)


def _keys(scheme: Scheme) -> dict[str, int | None]:
    simhash, minhash = scheme.simhash, scheme.minhash
    return {
        "bands": minhash.bands if minhash else None,
        "rows": minhash.rows if minhash else None,
        "key_bits": minhash.key_bits if minhash else None,
        "blocks": simhash.blocks if simhash else None,
    }


def _passages(passages: Passages) -> str:
    return f"of {passages.words} words or more; {passages.guarantee} in a row are always found"


def _rarity(info: Info) -> str:
    if info.rarity is None:
        return f"by the table {info.table}: none was learnt here"
    return f"by the table {info.table}, learnt on {info.rarity.day} from {sample(info.rarity)}"


def _write_rarity(info: Info, scheme: Scheme, path: str) -> None:
    from es_simhash.cli.jobs.rarity_file import write_rarity
    from es_simhash.errors import IndexStateError

    if info.rarity is None:
        raise IndexStateError("How rare features are was not learnt there yet. Run: es-simhash learn.")
    write_rarity(path, info.rarity, scheme)


def _checked(index: Index) -> FilesChecked:
    """Verify the files of an index."""
    from es_simhash.errors import IndexStateError

    checked = index.check_files()
    if not checked.damaged:
        return checked
    files = "\n".join(f"  {each.index}/{each.file}: {each.reason}" for each in checked.damaged)
    remedy = "Delete what is damaged while nobody has the index open: it is complete without."
    if any(each.is_needed for each in checked.damaged):
        remedy = "Restore the index from a copy, or delete its directory and load the documents again."
    raise IndexStateError(
        f"{len(checked.damaged):,} of {counted(checked.files, 'file')} of {index.name} "
        f"{'is' if len(checked.damaged) == 1 else 'are'} damaged:\n{files}\n{remedy}"
    )
