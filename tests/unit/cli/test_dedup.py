"""``dedup``: which documents make a group, and which one is canonical."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.environment import native
from es_simhash.sketches.minhash.common import standard_error
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited
from tests.support.random_corpus import texts_of_two_kinds
from tests.support.standing_documents import ids

TEXT, OTHER = (document["body"] for document in corpus(2))
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "first", "body": TEXT, "published": "2026-03-01", "source": "blog"},
    {"id": "oldest", "body": TEXT, "published": "2026-01-01T00:00:00Z", "source": "blog"},
    {"id": "longest", "body": TEXT + " and more", "source": "paper"},
    {"id": "other", "body": OTHER, "published": "2020-01-01", "source": "agency"},
]


def dedup(folder: Path, *options: str, documents: list[dict[str, Any]] = DOCUMENTS, code: int = 0) -> Any:
    path = folder / "news.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    done = run("dedup", str(path), "--id-field", "id", "--field", "body", *options, cwd=folder, code=code)
    return done.err if code else lines(done)


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("first", "first"),
        ("longest", "longest"),
        ("oldest:published", "oldest"),
        ("newest:published", "first"),
        ("order:source=agency,paper", "longest"),
    ],
)
def test_an_order_says_which_document_is_kept(tmp_path: Path, keep: str, expected: str) -> None:
    [group] = dedup(tmp_path, "--canonical", keep, "--canonical-only", "kept.jsonl")
    assert ids(group)[0] == expected
    assert {*ids(group)} == {"first", "oldest", "longest"}
    kept = (tmp_path / "kept.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in kept] == sorted([expected, "other"], key=[*_ids()].index)


@pytest.mark.parametrize("content", ["", "[" * 100_000, "[]", '{"rarity": {}}', "\0"], ids=range(5))
def test_a_file_of_rarity_that_is_damaged_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "rarity.json").write_text(content)
    assert "rarity.json cannot be read" in dedup(tmp_path, "--rarity", "rarity.json", code=2)


def decided(folder: Path, *decisions: dict[str, Any]) -> None:
    (folder / "decisions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in decisions), encoding="utf-8")


def test_groups_obey_a_file_of_decisions(tmp_path: Path) -> None:
    apart = {"a": "first", "b": "oldest", "label": 0, "who": "Mia"}
    decided(tmp_path, apart, {"id": "longest", "canonical": True}, {"a": "other", "b": "first", "label": 1})
    [group] = dedup(tmp_path, "--decisions", "decisions.jsonl")
    assert "longest" in ids(group)
    assert {"first", "oldest"} & {*ids(group)} != {"first", "oldest"}
    decided(tmp_path, apart, {**apart, "label": None}, {"id": "longest", "alone": True})
    [group] = dedup(tmp_path, "--decisions", "decisions.jsonl")
    assert ids(group) == ["first", "oldest"]


def test_the_decisions_that_show_keeps_next_to_a_file_are_obeyed(tmp_path: Path) -> None:
    apart = {"a": "first", "b": "oldest", "label": 0}
    (tmp_path / "news.jsonl.decisions.jsonl").write_text(json.dumps(apart) + "\n", encoding="utf-8")
    [group] = dedup(tmp_path)
    assert {"first", "oldest"} & {*ids(group)} != {"first", "oldest"}
    decided(tmp_path)
    [group] = dedup(tmp_path, "--decisions", "decisions.jsonl")
    assert {"first", "oldest"} <= {*ids(group)}


def test_decisions_on_unknown_documents_and_contradictions_are_said(tmp_path: Path) -> None:
    same = {"a": "first", "b": "oldest", "label": 1, "who": "Ben"}
    decided(tmp_path, {"a": "first", "b": "nobody", "label": 0}, same, {**same, "label": 0, "who": "Mia"})
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS), encoding="utf-8")
    options = ("--id-field", "id", "--field", "body", "--decisions", "decisions.jsonl")
    said = run("dedup", "news.jsonl", *options, "--output", "groups.jsonl", cwd=tmp_path)
    shown = said.out + said.err
    assert "1 decision is about documents that are not here or have nothing to compare" in " ".join(shown.split())
    assert "'first' and 'oldest' are the same (Ben), and different (Mia)." in " ".join(shown.split())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a": "first", "b": "first", "label": 0}', "needs 2 different ids"),
        ('{"a": "first", "label": 0}', "is not a decision"),
        ('{"a": "first", "b": "oldest", "label": 2}', "The label 2 is none of"),
        ("[]", "It is not an object"),
        ("{", "is not a decision"),
        ("[" * 100_000, "is not a decision"),
        ("\0", "is not a decision"),
    ],
)
def test_a_line_that_is_not_a_decision_is_named(tmp_path: Path, line: str, problem: str) -> None:
    decided(tmp_path, {"id": "first", "alone": True})
    with (tmp_path / "decisions.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    said = " ".join(dedup(tmp_path, "--decisions", "decisions.jsonl", code=2).split())
    assert "Line 3 of 'decisions.jsonl' is not a decision" in said
    assert problem in said


def test_decisions_name_documents_of_several_files_as_groups_do(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS[:2]), encoding="utf-8")
    decided(tmp_path, {"a": "one.jsonl:first", "b": "two.jsonl:first", "label": 0}, {"id": "oldest", "alone": True})
    options = ("--id-field", "id", "--field", "body", "--decisions", "decisions.jsonl")
    [group] = lines(run("dedup", "one.jsonl", "two.jsonl", *options, cwd=tmp_path))
    assert len(ids(group)) == 3
    assert not {"one.jsonl:first", "two.jsonl:first"} <= {*ids(group)}


def _ids() -> list[str]:
    return [each["id"] for each in DOCUMENTS]


def test_the_pairs_that_link_are_written(tmp_path: Path) -> None:
    dedup(tmp_path, "--pairs", "pairs.jsonl")
    first, *others = map(json.loads, (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines())
    near = {"similarity": 1.0, "distance": None, "standard_error": None, "is_exact": True}
    assert first == {"first": "first", "second": "oldest", **near}
    assert {frozenset((each["first"], each["second"])) for each in others} == {frozenset(("first", "longest"))}


def test_an_estimate_of_a_pair_has_its_standard_error(tmp_path: Path) -> None:
    dedup(tmp_path, "--pairs", "pairs.jsonl", "--estimate")
    _, *others = map(json.loads, (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines())
    for pair in others:
        assert not pair["is_exact"]
        assert pair["standard_error"] == round(standard_error(pair["similarity"], 128), 4)


def test_the_summary_says_where_texts_part(tmp_path: Path) -> None:
    rows = [{"id": str(place), "body": text} for place, text in enumerate(texts_of_two_kinds())]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    done = run("dedup", "news.jsonl", "--field", "body", "--json", cwd=tmp_path)
    valley = lines(done)[-1]["summary"]["valley"]
    assert 0.4 < valley < 0.9
    assert f"Few pairs are about {valley:g} similar" in done.err
    assert f"--similarity {valley:g}" in done.err
    histogram = run("tune", "news.jsonl", "--field", "body", "--histogram", "--json", cwd=tmp_path)
    [found] = lines(histogram)
    assert abs(found["valley"] - valley) < 0.2
    [summary] = dedup(tmp_path, "--json", documents=rows[::2])[-1:]
    assert summary["summary"]["valley"] is None


def test_a_chain_has_several_canonical_documents_each_with_its_duplicates(tmp_path: Path) -> None:
    chain = [{"id": str(i), "body": edited({"title": "", "body": TEXT}, 9 * i, seed=1)["body"]} for i in range(8)]
    [group, last] = dedup(tmp_path, "--similarity", "0.8", "--json", "--canonical-only", "kept", documents=chain)
    standing = {each["id"]: each["canonical"] for each in group["members"]}
    duplicates = [each["id"] for each in group["members"] if not each["is_canonical"]]
    assert len(duplicates) == last["summary"]["duplicates"]
    kept = [json.loads(line)["id"] for line in (tmp_path / "kept").read_text(encoding="utf-8").splitlines()]
    assert {*standing.values()} == {*kept} > {"0"}
    assert sorted([*kept, *duplicates]) == [each["id"] for each in chain]
    dedup(tmp_path, "--similarity", "0.8", "-o", "groups.csv", documents=chain)
    head, *rows = csv.reader((tmp_path / "groups.csv").read_text(encoding="utf-8").splitlines())
    assert head == ["group", "id", "canonical", "is_canonical", "similarity", "distance", "standard_error"]
    assert [row[:4] for row in rows] == [
        [group["group"], each["id"], each["canonical"], str(int(each["is_canonical"]))] for each in group["members"]
    ]


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_what_is_kept_of_a_table_is_a_table_with_the_same_columns(tmp_path: Path, ending: str, delimiter: str) -> None:
    rows = [
        ["_id", "body", "empty", "sum", "note"],
        ["a", TEXT, "", "=1+1", 'two\nlines, and a "quote"'],
        ["b", TEXT, "", "-2", ""],
        ["c", OTHER, "", "007", "é"],
    ]
    source, kept = tmp_path / f"news.{ending}", tmp_path / f"kept.{ending.upper()}"
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    run("dedup", str(source), "--field", "body", "--canonical-only", str(kept), cwd=tmp_path)
    with kept.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [rows[0], rows[1], rows[3]]


def test_what_is_kept_of_json_can_be_a_table(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": "a", "body": TEXT, "tags": ["x", "y"]},
        {"id": "b", "body": OTHER, "n": 3},
    ]
    dedup(tmp_path, "--canonical-only", "kept.csv", documents=documents)
    with (tmp_path / "kept.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "body", "tags", "n"],
            ["a", TEXT, '["x", "y"]', ""],
            ["b", OTHER, "", "3"],
        ]


def test_what_an_expression_finds_is_left_out_of_texts(tmp_path: Path) -> None:
    frame = " ".join(f"frame{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)) + " "
    framed = [{"id": str(i), "body": frame + each["body"][:60]} for i, each in enumerate(corpus(3))]
    assert len(dedup(tmp_path, documents=framed)) == 1
    assert dedup(tmp_path, "--strip", r"frame\w\w ", documents=framed) == []


def test_reports_are_imported_only_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS), encoding="utf-8")
    script = (
        "import sys; from es_simhash.cli.process import run\n"
        "assert run(['dedup', 'news.jsonl', '--field', 'body', *sys.argv[1:]]) == 0\n"
        "sys.exit('es_simhash.cli.reports' in sys.modules)"
    )
    for options, expected in (([], 0), (["--report", "report.html"], 1)):
        done = subprocess.run([sys.executable, "-c", script, *options], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == expected, done.stderr.decode()


def test_what_takes_long_to_load_and_is_not_needed_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DOCUMENTS), encoding="utf-8")
    # numpy's way has more to import.
    needless = {"subprocess", "es_simhash.scheme.rerank"} | ({"numpy.ma"} if native() else set())
    script = (
        "import sys; from es_simhash.cli.process import run\n"
        "assert run(['dedup', 'news.jsonl', '--field', 'body', '--quiet']) == 0\n"
        "sys.exit(' '.join(set(sys.argv[1:]) & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, *needless]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.stderr.strip()


def test_threads_soon_make_way_for_one_another() -> None:
    script = (
        "import atexit, sys; from es_simhash.cli.process import main\n"
        "atexit.register(lambda: print(sys.getswitchinterval() < 0.001)); main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True\n")


def test_a_report_shows_the_groups_and_their_texts(tmp_path: Path) -> None:
    dedup(tmp_path, "--report", "report.html", "--date", "published", "--canonical", "oldest:published")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2 of 4 documents are duplicates, in 1 group" in page
    assert "oldest:published" in page
    assert "2026" in page
    assert TEXT[:40] in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--canonical", "tallest"], "first, longest, oldest:FIELD"),
        (["--strip", "("], "not a regular expression"),
        (["--date", "published"], "Add --report or --window"),
        (["--window", "3d"], "Give both"),
        (["--pairs", "x", "--canonical-only", "x"], "--canonical-only and --pairs are the same file"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    assert message in dedup(tmp_path, *options, code=2)


SCOPED: list[dict[str, Any]] = [
    {"id": "1", "tenant": "a", "source": {"name": "x"}, "at": "2026-03-01", "body": TEXT},
    {"id": "2", "tenant": "a", "source": {"name": "y"}, "at": "2026-03-09", "body": TEXT},
    {"id": "3", "tenant": "b", "source": {"name": "y"}, "at": "2026-03-02", "body": TEXT},
    {"id": "4", "tenant": "b", "source": {"name": "y"}, "at": 1772409600000, "body": TEXT},
    {"id": "5", "source": {"name": "z"}, "at": "soon", "body": TEXT},
]


@pytest.mark.parametrize(
    ("options", "groups", "lacking"),
    [
        (["--within", "tenant"], ["12", "34"], 1),
        (["--within", "tenant", "--across", "source.name"], ["12"], 1),
        (["--across", "source.name", "--window", "36h", "--date", "at"], ["134"], 1),
        (["--within", "source.name", "--window", "8d", "--date", "at"], ["234"], 1),
    ],
)
def test_only_documents_in_scope_are_grouped(
    tmp_path: Path, options: list[str], groups: list[str], lacking: int
) -> None:
    report = ["--report", "report.html"]
    *found, last = dedup(tmp_path, "--json", *options, *report, documents=SCOPED)
    assert sorted("".join(sorted(ids(each))) for each in found) == groups
    assert last["summary"]["unscoped"] == lacking
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 document has no value in a field of the scope" in page
    assert options[1] in page


def test_documents_without_a_value_of_the_scope_are_named_in_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in SCOPED), encoding="utf-8")
    done = run("dedup", str(path), "--id-field", "id", "--field", "body", "--within", "tenant", cwd=tmp_path)
    assert "1 document has no value in a field of the scope" in done.err
    done = run("dedup", str(path), "--field", "body", "--within", "tennant", cwd=tmp_path, code=2)
    assert (
        "has the field tennant. They have: id, tenant, source, at, body. Did you mean 'tenant' instead of 'tennant'?"
        in done.err
    )


IDS = ("=cmd()", "-1", "+x", "a\rb")


@pytest.mark.parametrize("command", ["dedup", "group"])
def test_ids_that_a_spreadsheet_would_calculate_are_text_in_tables(tmp_path: Path, command: str) -> None:
    rows = "".join(json.dumps({"id": id_, "body": "the same text in all of them"}) + "\n" for id_ in IDS)
    (tmp_path / "news.jsonl").write_text(rows, encoding="utf-8")
    given = ("--output", "groups.csv")
    if command == "dedup":
        run("dedup", "news.jsonl", *given, cwd=tmp_path)
    else:
        run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
        run("group", "news", *given, "--pairs", "pairs.csv", cwd=tmp_path)
        with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as file:
            pairs = list(csv.DictReader(file))
        assert {pair[end] for pair in pairs for end in ("first", "second")} == {"'=cmd()", "-1", "'+x", "a\rb"}
        found = run("find", "news", "--id", "-1", cwd=tmp_path)
        assert "news\t=cmd()\t" in found.out
        assert "+x\tin the index\t=cmd()\t" in run("check", "news", "news.jsonl", cwd=tmp_path).out
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(row["id"] for row in csv.DictReader(file)) == sorted(["'=cmd()", "-1", "'+x", "a\rb"])


@pytest.mark.parametrize("command", ["dedup", "group"])
def test_dates_that_cannot_be_read_are_counted_and_none_at_all_is_an_error(tmp_path: Path, command: str) -> None:
    def grouped(dates: dict[str, str], *options: str) -> Any:
        rows = ({"id": name, "body": TEXT, "published": date} for name, date in dates.items())
        (tmp_path / "dated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        if command == "group":
            run("load", "news", "dated.jsonl", "--field", "body", cwd=tmp_path)
        place = "news" if command == "group" else "dated.jsonl"
        return run(command, place, "--canonical", *options, cwd=tmp_path, code=None)

    done = grouped({"a": "03/01/2021", "b": "2021-03-02", "c": "x"}, "oldest:published")
    said = "2 documents have no date that oldest:published can read. The first is 'a', with '03/01/2021' in published."
    accepted = "Write dates as 2026-03-01 or 2026-03-01T10:00:00Z, or as milliseconds since 1970."
    assert f"Warning: {said} They come last. {accepted}" in done.err
    assert json.loads(done.out)["members"][0]["id"] == "b"
    done = grouped({"a": "x", "b": "x", "c": "x"}, "newest:published")
    assert done.code != 0
    which = "No document of a group" if command == "group" else "No document"
    assert f"{which} has a date that newest:published can read" in done.err
    if command == "group":  # a run may read a few groups only
        assert "3 documents have no date" in grouped(dict.fromkeys("abc", "x"), "newest:published", "--incremental").err


@pytest.mark.parametrize("command", ["dedup", "group"])
def test_fields_of_the_members_are_shown_with_them(tmp_path: Path, command: str) -> None:
    tags: dict[str, Any] = {"first": {"site": "a"}, "oldest": {"site": ["b", "c"]}, "longest": {}}
    rows = [{"_id": id_, "body": TEXT, "title": f"=of {id_}", "meta": meta} for id_, meta in tags.items()]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if command == "group":
        run("load", "news", "news.jsonl", "--field", "body", cwd=tmp_path)
    place = ["news.jsonl", "--field", "body"] if command == "dedup" else ["news"]
    given = [command, *place, "--source", "title", "--source", "meta.site"]
    group, _ = lines(run(*given, "--json", cwd=tmp_path))
    found = {each["id"]: each["source"] for each in group["members"]}
    assert {id_: source["title"] for id_, source in found.items()} == {id_: f"=of {id_}" for id_ in tags}
    assert found["oldest"]["meta"] == {"site": ["b", "c"]}
    assert {*found["longest"]} <= {"title", "meta"}
    run(*given, "--output", "groups.csv", cwd=tmp_path)
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as file:
        table = {row["id"]: (row["title"], row["meta.site"]) for row in csv.DictReader(file)}
    assert table == {
        "first": ("'=of first", "a"),
        "oldest": ("'=of oldest", '["b", "c"]'),
        "longest": ("'=of longest", ""),
    }
    if command == "dedup":
        assert "Did you mean 'title' instead of 'titel'?" in run(*given, "--source", "titel", cwd=tmp_path, code=2).err
        assert "--source would read the files once more" in run("dedup", "-", *given[2:], cwd=tmp_path, code=2).err
