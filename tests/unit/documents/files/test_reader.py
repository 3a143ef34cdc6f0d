from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from es_simhash.documents.files import FORMATS, read_documents, total_bytes
from es_simhash.errors import InputError
from tests.support.reading import never, read, read_bytes

ONE = b'{"id": "one", "text": "x"}\n'


class TestPaths:
    def test_all_paths_are_checked_before_anything_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes(b"bad\n")
        with pytest.raises(InputError, match=r"'.*missing\.jsonl' cannot be read: No such file"):
            read_documents([tmp_path / "a.jsonl", tmp_path / "missing.jsonl"], on_reject=never)

    def test_files_are_read_in_the_order_given_and_lazily(self, tmp_path: Path) -> None:
        (tmp_path / "b.jsonl").write_bytes(ONE)
        (tmp_path / "a.csv").write_bytes(b"id\ntwo\n")
        found = read_documents([tmp_path / "b.jsonl", str(tmp_path / "a.csv")], on_reject=never)
        assert next(found).id == "one"
        (tmp_path / "a.csv").write_bytes(b"id\nlater\n")
        assert [(item.id, item.file, item.line) for item in found] == [("later", str(tmp_path / "a.csv"), 2)]

    def test_one_path_may_be_given_alone(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes(ONE)
        assert [item.id for item in read_documents(tmp_path / "a.jsonl", on_reject=never)] == ["one"]

    @pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "a.xlsx", "a.jsonl.zip", ".jsonl.d"])
    def test_a_name_that_shows_no_format_is_refused_with_the_formats(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError, match="Name the format: jsonl, json, csv, tsv, parquet, text"):
            read_bytes(tmp_path, name, ONE)

    @pytest.mark.parametrize("name", ["a", "a.txt", "a.csv", "a.jsonl.old"])
    def test_a_format_that_is_named_counts_more_than_the_name(self, tmp_path: Path, name: str) -> None:
        assert read_bytes(tmp_path, name, ONE, format="jsonl")[0][0].id == "one"

    @pytest.mark.parametrize("name", ["A.JSONL", "a.2024.jsonl", "a.JSONL.GZ"])
    def test_names_are_read_in_any_case(self, tmp_path: Path, name: str) -> None:
        content = gzip.compress(ONE) if name.endswith("GZ") else ONE
        assert read_bytes(tmp_path, name, content)[0][0].id == "one"

    def test_unknown_formats_and_encodings_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="Unknown format 'xml'"):
            read_bytes(tmp_path, "a.jsonl", ONE, format="xml")
        for encoding in ["utf-9", "rot13", "base64"]:
            with pytest.raises(InputError, match="Unknown text encoding"):
                read_bytes(tmp_path, "a.jsonl", ONE, encoding=encoding)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").touch(mode=0)
        with pytest.raises(InputError, match="Permission denied"):
            read(tmp_path / "a.jsonl")

    @pytest.mark.parametrize("format", sorted(set(FORMATS) - {"text"}))
    def test_a_directory_is_not_a_file_of_documents(self, tmp_path: Path, format: str) -> None:
        with pytest.raises(InputError, match="is a directory, which cannot be read as"):
            read(tmp_path, format=format)

    def test_an_empty_file_is_rejected_and_the_next_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "b.jsonl").write_bytes(ONE)
        (tmp_path / "a.csv").touch()
        rejected: list[object] = []
        found = list(read_documents([tmp_path / "a.csv", tmp_path / "b.jsonl"], on_reject=rejected.append))
        assert (len(found), len(rejected)) == (1, 1)

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such names")
    def test_a_path_that_is_not_text_is_escaped(self, tmp_path: Path) -> None:
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
        Path(path).write_bytes(b'{"a": 1}')
        [found] = read_documents(path, on_reject=never)
        assert found.id == f"{tmp_path}/\\xff.jsonl:1"

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
    def test_a_pipe_is_read_once(self, tmp_path: Path) -> None:
        import threading

        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=[gzip.compress(ONE)])
        writer.start()
        found, _ = read(path, format="jsonl")
        writer.join()
        assert [item.id for item in found] == ["one"]
        assert total_bytes(path) is None


class TestMadeIds:
    def test_they_are_the_same_however_the_path_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "a.jsonl").write_bytes(b'\n{"a": 1}')
        (tmp_path / "link.jsonl").symlink_to("a.jsonl")
        monkeypatch.chdir(tmp_path)
        written = ["a.jsonl", "./a.jsonl", "sub/../a.jsonl", str(tmp_path / "a.jsonl"), "link.jsonl"]
        ids = {item.id for item in read_documents(written, on_reject=never)}
        assert ids == {f"{tmp_path.resolve().as_posix()}/a.jsonl:2"}

    def test_files_of_the_same_name_have_their_own(self, tmp_path: Path) -> None:
        for folder in ("x", "y"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "a.jsonl").write_bytes(b'{"a": 1}')
        paths = [tmp_path / "x" / "a.jsonl", tmp_path / "y" / "a.jsonl"]
        assert len({item.id for item in read_documents(paths, on_reject=never)}) == 2


class TestStandardInput:
    @pytest.mark.parametrize("content", [ONE, gzip.compress(ONE)], ids=["plain", "gzip"])
    def test_it_is_json_lines_by_default(self, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        found = list(read_documents("-", on_reject=never))
        assert [(item.id, item.document, item.file, item.line) for item in found] == [
            ("one", {"id": "one", "text": "x"}, "-", 1)
        ]
        assert not sys.stdin.closed

    def test_it_has_the_format_that_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
        [found] = read_documents(["-"], format="csv", on_reject=never)
        assert found.document == {"a": "1", "b": "2"}
        assert re.fullmatch("-:2:[0-9a-f]{16}", found.id)

    def test_made_ids_are_the_same_for_the_same_input_and_others_for_another(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def ids(content: bytes) -> list[str]:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
            return [item.id for item in read_documents("-", on_reject=never)]

        first = ids(b'{"a": 1, "b": 2}\n{"a": 1, "b": 2}\n')
        assert ids(b'{"b": 2, "a": 1}\n{"a": 1, "b": 2}\n') == first
        assert len({*first, *ids(b'{"a": 1, "b": 3}\n')}) == 3

    def test_its_size_is_not_known(self) -> None:
        assert total_bytes(["-"]) is None


class TestDirectories:
    def test_each_file_is_a_document_with_its_relative_path_as_id(self, tmp_path: Path) -> None:
        (tmp_path / "b" / "c").mkdir(parents=True)
        for name, content in [("z.txt", "\ufeffz\r\n"), ("b/c/x", "x"), ("b/a.md", "中文"), (".hidden", "no")]:
            (tmp_path / name).write_bytes(content.encode())
        (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(b"packed"))
        found, rejected = read(tmp_path)
        assert [(item.id, item.document) for item in found] == [
            ("packed.txt.gz", {"text": "packed"}),
            ("z.txt", {"text": "z\r\n"}),
            ("b/a.md", {"text": "中文"}),
            ("b/c/x", {"text": "x"}),
        ]
        assert found[1].file == (tmp_path / "z.txt").as_posix()
        assert not rejected

    def test_a_file_that_cannot_be_read_is_rejected_and_the_others_are_read(self, tmp_path: Path) -> None:
        contents = {
            "a": b"",
            "b": b"\xff",
            "c": b"a\0b",
            "d": b"x" * 101,
            "f": gzip.compress(b"cut")[:-9],
            "g": b"good",
        }
        for name, content in contents.items():
            (tmp_path / name).write_bytes(content)
        (tmp_path / "e").symlink_to(tmp_path / "missing")
        found, rejected = read(tmp_path, max_line=100)
        assert [item.id for item in found] == ["g"]
        reasons = ["empty", "not valid utf-8", "NUL", "more than 100 bytes", "file cannot be read", "breaks off"]
        assert [Path(bad.file).name for bad in rejected] == ["a", "b", "c", "d", "e", "f"]
        assert all(part in bad.reason for part, bad in zip(reasons, rejected, strict=True))

    def test_a_link_that_leads_out_of_the_directory_is_rejected_and_not_followed(self, tmp_path: Path) -> None:
        inner, outer = tmp_path / "in", tmp_path / "in side"
        for folder in (inner, outer, inner / "sub"):
            folder.mkdir()
            (folder / "a").write_text(folder.name)
        (inner / "link").symlink_to("sub/a")
        (inner / "out").symlink_to(outer / "a")
        (inner / "sub" / "up").symlink_to("../../in side/a")
        (inner / "sub" / "folder").symlink_to(outer)
        (inner / "sub" / "chain").symlink_to("../out")
        (tmp_path / "same").symlink_to(inner)
        for name in (inner, tmp_path / "same"):
            found, rejected = read(name)
            assert [(item.id, item.document["text"]) for item in found] == [
                *(("a", "in"), ("link", "sub"), ("sub/a", "sub")),
            ]
            assert [bad.file.removeprefix(name.as_posix()) for bad in rejected] == [
                *("/out", "/sub/chain", "/sub/folder", "/sub/up"),
            ]
            assert all("leads out of the directory" in bad.reason for bad in rejected)

    def test_a_directory_with_files_of_documents_is_refused_unless_they_are_texts(self, tmp_path: Path) -> None:
        (tmp_path / "part-0.json").write_bytes(ONE)
        with pytest.raises(InputError, match=r"holds files of documents, such as '.*part-0\.json'"):
            read(tmp_path)
        assert read(tmp_path, format="text")[0][0].document == {"text": ONE.decode()}

    def test_a_directory_without_files_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no files"):
            read(tmp_path)

    def test_a_file_may_be_one_text(self, tmp_path: Path) -> None:
        [found], _ = read_bytes(tmp_path, "a.txt", "文\n".encode("utf-16"), format="text", encoding="utf-16")
        assert (found.id, found.document) == ((tmp_path / "a.txt").as_posix(), {"text": "文\n"})


class TestProgress:
    def test_it_counts_the_bytes_on_disk_up_to_their_total(self, tmp_path: Path) -> None:
        line = json.dumps({"text": os.urandom(500).hex()}).encode() + b"\n"
        (tmp_path / "a.jsonl").write_bytes(line * 1000)
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(line * 1000))
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts" / "c").write_bytes(b"c" * 1000)
        paths = [tmp_path / name for name in ["a.jsonl", "b.jsonl.gz", "texts"]]
        reported: list[int] = []
        total = total_bytes(paths)
        assert total == (tmp_path / "a.jsonl").stat().st_size + (tmp_path / "b.jsonl.gz").stat().st_size + 1000
        list(read_documents(paths, on_reject=never, on_progress=reported.append))
        assert reported == sorted(set(reported))
        assert len(reported) > 4
        assert reported[-1] == total

    def test_the_total_of_what_is_missing_is_not_known(self, tmp_path: Path) -> None:
        assert total_bytes([tmp_path / "missing"]) is None


def test_an_error_of_the_caller_is_not_taken_for_one_of_the_file(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise OSError("disk full")

    (tmp_path / "a.jsonl").write_bytes(b"bad\n" + ONE)
    with pytest.raises(OSError, match="disk full"):
        list(read_documents(tmp_path / "a.jsonl", on_reject=fail))
    with pytest.raises(OSError, match="disk full"):
        list(read_documents(tmp_path / "a.jsonl", on_reject=print, on_progress=fail))


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(InputError, match="NUL character"):
        read_documents("a\0b.jsonl", on_reject=print)
