"""``es-simhash info``: the contents of an index, or the presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import optional_index_argument
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
@optional_index_argument
@click.option("--check", is_flag=True, help="First verify the checksums of all files of an embedded index.")
def command(index: str | None, prefix: str, check: bool, target: Target, output: Output) -> None:
    """Show the text fields of INDEX, and how many of its documents have fingerprints. Without INDEX, list the presets.

    Example: es-simhash info articles
    """
    from es_simhash.cli.show.presets import show_presets
    from es_simhash.index import Index

    if index is None:
        if check:
            raise click.UsageError("--check verifies the files of an index. Name the index, or drop it.")
        show_presets(output)
        return
    with target.opened(output) as engine:
        opened = Index(index, engine, prefix=prefix)
        checked = _checked(opened) if check else None
        info = opened.info()
        scheme = opened.scheme
    output.result(info, {"keys": _keys(scheme), "files": checked})
    output.table(["property", index], [*_rows(info, checked), *(_details(info, scheme) if output.is_verbose else [])])
    output.note(f"Next: es-simhash sync {index}")


def _rows(info: Info, checked: FilesChecked | None) -> list[list[str]]:
    return [
        ["engine", info.engine],
        ["indices", ", ".join(info.indices)],
        *([["without fields", ", ".join(info.without_fields)]] if info.without_fields else []),
        ["preset", info.preset],
        ["text fields", ", ".join(info.fields)],
        *([["policy", str(info.policy)]] if info.policy.to_json() else []),
        ["documents", f"{info.documents:,}"],
        *([["in no scope", f"{info.unscoped:,}"]] if info.unscoped else []),
        ["with fingerprints", f"{info.fingerprinted:,}"],
        *([["without", f"{info.without:,}"]] if info.without else []),
        *([f"status {status}", f"{count:,}"] for status, count in info.statuses.items() if count and status != "ok"),
        *([["files", f"{checked.files:,} as they were written, {checked.bytes:,} bytes"]] if checked else []),
    ]


def _details(info: Info, scheme: Scheme) -> list[list[str]]:
    return [
        ["scheme", info.scheme],
        ["fields under", info.prefix],
        *([["passages", _passages(scheme.passages)]] if scheme.passages else []),
        *([["rarity", _rarity(info)]] if info.table else []),
    ]


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


def _checked(index: Index) -> FilesChecked:
    """Verify the files of an index."""
    from es_simhash.errors import IndexStateError

    checked = index.check_files()
    if not checked.damaged:
        return checked
    files = "\n".join(f"  {each.index}/{each.file}: {each.reason}" for each in checked.damaged)
    remedy = "Close the index and delete the damaged files: it is complete without them."
    if any(each.is_needed for each in checked.damaged):
        remedy = "Restore the index from a copy, or delete its directory and load the documents again."
    raise IndexStateError(
        f"{len(checked.damaged):,} of {counted(checked.files, 'file')} of {index.name} "
        f"{'is' if len(checked.damaged) == 1 else 'are'} damaged:\n{files}\n{remedy}"
    )
