"""``es-simhash info``: the contents of an index, or the presets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from es_simhash._core.humanize import counted
from es_simhash.cli.options.connection import EngineVerb
from es_simhash.cli.options.index import optional_index_argument
from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output, sample

if TYPE_CHECKING:
    from es_simhash.index import Index
    from es_simhash.plans.init import Info
    from es_simhash.plans.operations import FilesChecked
    from es_simhash.scheme.scheme import Scheme


@click.command(name="info", cls=EngineVerb)
@optional_index_argument
@click.option("--check", is_flag=True, help="First verify the checksums of all files of an embedded index.")
def command(index: str | None, prefix: str, check: bool, target: Target, output: Output) -> None:
    """Show the text fields of INDEX, and how many of its documents have fingerprints. Without INDEX, list the presets.

    Example: es-simhash info articles
    """
    from es_simhash.cli.show.presets import show_presets

    if index is None:
        if check:
            raise click.UsageError("--check verifies the files of an index. Name the index, or drop it.")
        show_presets(output)
        return
    with target.index(output, index, prefix=prefix) as opened:
        checked = _checked(opened) if check else None
        info = opened.info()
        scheme = opened.scheme
    output.result(info, {"keys": _keys(scheme), "files": checked})
    rows = list(info.shown().rows)
    if checked:
        rows.append(("files", f"{checked.files:,} as they were written, {checked.bytes:,} bytes"))
    if output.is_verbose:
        rows.extend(_details(info, scheme))
    output.table(["property", index], rows)
    output.next_step("sync", index, prefix=info.prefix)


def _details(info: Info, scheme: Scheme) -> Iterator[tuple[str, str]]:
    yield from (("scheme", info.scheme), ("fields under", info.prefix))
    if scheme.passages:
        words, guarantee = scheme.passages.words, scheme.passages.guarantee
        yield "passages", f"of {words} words or more; {guarantee} in a row are always found"
    if info.table:
        learnt = (
            f", learnt on {info.rarity.day} from {sample(info.rarity)}" if info.rarity else ": none was learnt here"
        )
        yield "rarity", f"by the table {info.table}{learnt}"


def _keys(scheme: Scheme) -> dict[str, int | None]:
    simhash, minhash = scheme.simhash, scheme.minhash
    return {
        "bands": minhash.bands if minhash else None,
        "rows": minhash.rows if minhash else None,
        "key_bits": minhash.key_bits if minhash else None,
        "blocks": simhash.blocks if simhash else None,
    }


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
