"""What would go is said beforehand, and too much stops the command before anything is written."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.families import family
from es_simhash.index import Index
from es_simhash.plans.operations import Count, DeleteIndex
from tests.support.commands import Run, lines, run, run_alone
from tests.support.filled_forms import filled
from tests.support.gate_process import GateProcess
from tests.support.planted_losses import SITE, clean, planted

FORMS = planted("filled-in forms")
ALARM = f"of site {SITE!r} would go ("
ASKED = ("--id-field", "id", "--field", "body")


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "news.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file that has a site of forms."""
    write(tmp_path, FORMS)
    return tmp_path


@pytest.fixture
def index(place: str) -> Iterator[str]:
    """An index with the same documents, removed in the end."""
    name = f"losses-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["body"]) as index:
        index.init()
        index.add([{"_id": row["id"], **row} for row in FORMS], refresh=True)
        yield name
        index.engine.perform(DeleteIndex(name))


# ---- files


def test_dedup_says_what_would_go_before_it_writes_what_stays(folder: Path) -> None:
    done = run("dedup", "news.jsonl", *ASKED, "--canonical-only", "kept.jsonl", "-o", "groups.jsonl", cwd=folder)
    kept = len((folder / "kept.jsonl").read_text(encoding="utf-8").splitlines())
    said = done.err.splitlines()
    assert said[0].startswith(f"{len(FORMS) - kept:,} of {len(FORMS):,} documents (")
    assert ALARM in said[1]
    assert "likely filled-in forms. Look at bad" in said[1]
    assert sum("would go" in line for line in said) == 2


def test_the_report_has_the_alarms(folder: Path) -> None:
    run("dedup", "news.jsonl", *ASKED, "--report", "report.html", "-o", "groups.jsonl", cwd=folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("likely filled-in forms. Look at bad") == 1


def test_an_alarm_is_shown_though_quiet(folder: Path) -> None:
    done = run("dedup", "news.jsonl", *ASKED, "--canonical-only", "kept.jsonl", "-o", "g.csv", "--quiet", cwd=folder)
    [said] = done.err.splitlines()
    assert ALARM in said


def test_nothing_more_is_said_where_nothing_goes(folder: Path) -> None:
    assert "would go" not in run("dedup", "news.jsonl", *ASKED, "-o", "groups.jsonl", cwd=folder).err
    write(folder, clean(90))
    done = run("dedup", "news.jsonl", *ASKED, "--canonical-only", "kept.jsonl", "-o", "groups.jsonl", cwd=folder)
    assert [line for line in done.err.splitlines() if "likely" in line] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-loss", "30%"), "of all documents would go ("),
        (("--max-loss", "0.6", "--per", "site"), f"of site {SITE!r} would go ("),
    ],
)
def test_too_much_stops_dedup_before_anything_is_written(folder: Path, options: tuple[str, ...], said: str) -> None:
    (folder / "kept.jsonl").write_text("earlier\n", encoding="utf-8")
    outputs = ("--canonical-only", "kept.jsonl", "-o", "groups.jsonl", "--pairs", "pairs.jsonl")
    done = run("dedup", "news.jsonl", *ASKED, *outputs, *options, cwd=folder, code=1)
    assert done.out == ""
    assert said in done.err.splitlines()[-1]
    assert "Nothing was written." in done.err
    assert (folder / "kept.jsonl").read_text(encoding="utf-8") == "earlier\n"
    assert {each.name for each in folder.iterdir()} == {"news.jsonl", "kept.jsonl"}


def test_less_does_not_stop_it_and_its_counts_are_in_the_summary(folder: Path) -> None:
    done = run("dedup", "news.jsonl", *ASKED, "--max-loss", "99.9%", "--per", "site", "--json", cwd=folder)
    losses = lines(done)[-1]["summary"]["losses"]
    [alarm] = losses["alarms"]
    assert (alarm["value"], alarm["reason"], len(alarm["examples"])) == (SITE, "form", 3)
    assert (losses["by"][0]["by"], losses["by"][0]["field"]) == ("field", "site")
    assert losses["certificate"]["pairs"] == 30
    without = lines(run("dedup", "news.jsonl", *ASKED, "--json", cwd=folder))[-1]["summary"]
    assert without["losses"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-loss", "much"), "'much' is not a share. Write it as 30% or 0.3."),
        (("--max-loss", "130%"), "'130%' is not a share."),
        (("--max-loss", "nan"), "'nan' is not a share."),
        (("--per", "sight"), "has the field sight"),
    ],
)
def test_a_share_or_field_that_is_none_is_named(folder: Path, options: tuple[str, ...], said: str) -> None:
    assert said in run("dedup", "news.jsonl", *ASKED, *options, cwd=folder, code=2).err


# ---- indices


def do(index: str, place: str, folder: Path, *options: str, code: int = 0) -> Run:
    return run("group", index, *options, cwd=folder, code=code, ES_SIMHASH_URL=place)


def test_group_says_what_a_script_would_delete(index: str, place: str, tmp_path: Path) -> None:
    outputs = ("--delete-script", "delete.ndjson", "-o", "groups.jsonl")
    said = [line for line in do(index, place, tmp_path, *outputs).err.splitlines() if "would go" in line]
    deleted = len((tmp_path / "delete.ndjson").read_text(encoding="utf-8").splitlines())
    assert said[0].startswith(f"{deleted:,} of {len(FORMS):,} documents (")
    assert len(said) == 2
    # Without --per, only a sample is read.
    assert ALARM + "about " in said[1]


def test_too_much_stops_group_before_anything_is_written(index: str, place: str, tmp_path: Path) -> None:
    for options in (("--write",), ("--delete-script", "delete.ndjson", "-o", "groups.jsonl")):
        done = do(index, place, tmp_path, *options, "--max-loss", "60%", "--per", "site", code=1)
        assert f"of site {SITE!r} would go (" in done.err.splitlines()[-1]
    assert {"delete.ndjson", "groups.jsonl"}.isdisjoint(each.name for each in tmp_path.iterdir())
    with Index(index, place) as opened:
        assert opened.engine.perform(Count(index, {"exists": {"field": "dedup.group"}})) == 0


def test_values_in_an_index_are_counted_as_in_a_file(index: str, place: str, folder: Path) -> None:
    asked = ("--per", "site", "--date", "published", "--report", "report.html", "-o", "groups.jsonl", "--json")
    found = [
        lines(done)[-1]["summary"]["losses"]["by"][:2]
        for done in (do(index, place, folder, *asked), run("dedup", "news.jsonl", *ASKED, *asked, cwd=folder))
    ]
    counts = [[{loss["value"]: loss["documents"] for loss in each["values"]} for each in by] for by in found]
    assert counts[0] == counts[1]
    assert [[each["is_estimate"] for each in by] for by in found] == [[False, False]] * 2


def test_parts_keep_the_field_for_the_run_that_makes_groups(index: str, place: str, tmp_path: Path) -> None:
    for part in (1, 2):
        do(index, place, tmp_path, "--part", f"{part}/2", "--state", "state", "--per", "site")
    outputs = ("--state", "state", "--per", "site", "--max-loss", "60%", "-o", "groups.jsonl")
    assert f"of site {SITE!r} would go (" in do(index, place, tmp_path, *outputs, code=1).err.splitlines()[-1]


def test_a_part_and_new_documents_show_no_losses(index: str, place: str, tmp_path: Path) -> None:
    for options in (("--incremental",), ("--part", "1/2", "--state", "state")):
        assert "need all groups" in do(index, place, tmp_path, *options, "--max-loss", "1%", code=2).err
    assert "has the field sight" in do(index, place, tmp_path, "--per", "sight", code=2).err


# ---- erase, gate


def test_erase_says_how_much_would_go(tmp_path: Path) -> None:
    write(tmp_path, [{"_id": row["id"], "body": row["body"]} for row in clean(90)])
    run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
    text = (tmp_path / "news.jsonl").read_text(encoding="utf-8")
    first, count = json.loads(text.splitlines()[0])["_id"], len(text.splitlines())
    done = run("erase", "news", "--id", first, cwd=tmp_path)
    found = len(done.out.splitlines()) - 1
    assert f"{found} of {count} documents (" in done.err
    assert "%) would go." in done.err


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (filled("en", 0, 12), "They are likely filled-in forms. Review each"),
        (["Page not found. Go to the home page."] * 12, "They are likely hardly any text of their own. Review each"),
        (family("en", 400, 0.02, 5, 1), ""),
    ],
    ids=["forms", "empty", "copies"],
)
def test_erase_doubts_what_is_likely_no_copy(texts: list[str], said: str, tmp_path: Path) -> None:
    write(tmp_path, [{"_id": str(number), "body": text} for number, text in enumerate(texts)])
    run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
    err = run("erase", "news", "--id", "0", "--similarity", "0.3", cwd=tmp_path).err
    assert said in err
    assert ("They are likely" in err) == bool(said)


def test_a_gate_names_sources_that_are_nearly_all_duplicates(tmp_path: Path) -> None:
    run("init", "news", "--field", "body", cwd=tmp_path)
    rows = "".join(json.dumps(row) + "\n" for row in [*clean(60), *planted("empty bodies")[:400]])
    done = run_alone("gate", "news", "--stdin", cwd=tmp_path, stdin=rows)
    assert "documents were answered. " in done.err
    assert f"of site {SITE!r} were duplicates (" in done.err


def test_a_service_that_stops_names_them_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run("init", "news", "--field", "body", cwd=tmp_path)
    gate = GateProcess("news", cwd=tmp_path)
    gate.start()
    for start in range(0, 120, 40):
        gate.ask("/add", [*clean(60), *planted("empty bodies")][start : start + 40])
    gate.ask(
        "/add", [{"id": f"page {n}", "site": SITE, "body": "Page not found. Go to the home page."} for n in range(60)]
    )
    assert gate.stop() == 0
    assert f"of site {SITE!r} were duplicates (" in capfd.readouterr().err


def test_sync_says_what_new_documents_lose(place: str, tmp_path: Path) -> None:
    name = f"losses-{uuid.uuid4().hex[:10]}"
    with Index(name, place, fields=["body"]) as index:
        index.init()
        index.add([{"_id": row["id"], **row} for row in FORMS], refresh=True)
    first = run("sync", name, cwd=tmp_path, ES_SIMHASH_URL=place)
    assert ALARM + "about " in first.err
    assert "Give such an option to group --write once: sync keeps it." in first.err
    [synced] = lines(run("sync", name, "--json", cwd=tmp_path, ES_SIMHASH_URL=place))
    assert synced["alarms"] == []
    with Index(name, place) as index:
        index.engine.perform(DeleteIndex(name))
