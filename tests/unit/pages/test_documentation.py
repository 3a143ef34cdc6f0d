"""Pages of the documentation are read and run by the conventions in CONTRIBUTING.md."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from tests.support.cli_lines import alone, check_options
from tests.support.dev_tools import Request
from tests.support.documentation import Command, commands, read, requests
from tests.support.page_running import holds, run_page, shows

PAGE = """\
# A page

<!-- runs on: servers -->
<!-- indices: articles news -->

<!-- not run: it is far away -->
```console
$ ssh moon
```

```jsonl title="a.jsonl"
{}
```

1. In a list:
   ```python
   print(1)
   ```

   ```text
   1
   ```

<!-- only: elasticsearch -->
```http
GET a/_search
{"size": 0}
PUT /b
{"c": 1}
```

<!-- Not shown.
```console
$ ls
```
-->

```text
A picture.
```
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def run(text: str, folder: Path) -> dict[str, object]:
    (folder / "page.md").write_text(text, encoding="utf-8")
    return run_page(read(folder / "page.md"), folder)


def test_a_page_is_read_as_blocks(path: Path) -> None:
    page = read(path)
    assert (page.place, page.settings("indices"), page.is_run) == ("servers", ["articles", "news"], True)
    assert [block.kind for block in page.blocks] == ["console", "jsonl", "python", "http", "console", "text"]
    far, file, python, http, hidden, _ = page.blocks
    assert far.not_run == "it is far away"
    assert (file.title, file.text, file.not_run) == ("a.jsonl", "{}\n", None)
    assert python.text == "print(1)\n"
    assert python.output
    assert python.output.text == "1\n"
    assert PAGE.splitlines()[python.line].strip() == "print(1)"
    assert (http.only, http.output, hidden.only) == ("elasticsearch", None, None)
    assert requests(http) == [Request("GET", "/a/_search", {"size": 0}), Request("PUT", "/b", {"c": 1})]


def test_a_console_block_is_read_as_commands_with_their_output(path: Path) -> None:
    path.write_text("```console\n$ a \\\n  b\none\n$ c\n# exit 2\ntwo\n…\n```\n", encoding="utf-8")
    assert commands(read(path).blocks[0]) == [Command("a \\\n  b", "one\n", 0), Command("c", "two\n…\n", 2)]


def test_a_crontab_is_read_as_its_commands(path: Path) -> None:
    path.write_text("```cron\nPATH=/bin\n7 * * * * es-simhash info\n```\n", encoding="utf-8")
    assert commands(read(path).blocks[0]) == [Command("es-simhash info", "", 0)]


def test_shown_lines_must_be_printed_in_their_order() -> None:
    printed = "one\n  two 2\nthree\n"
    assert shows(printed, "one\nthree\n")
    assert shows(printed, "two …\n…\n")
    assert shows("a\tb\n", "a  b\n")
    assert shows(printed, "")
    assert not shows(printed, "three\none\n")
    assert not shows(printed, "two\n")


def test_a_shown_reply_must_be_part_of_the_reply() -> None:
    reply = {"a": [{"b": 1, "c": 2}], "d": 3}
    assert holds(reply, {"a": [{"b": 1}]})
    assert not holds(reply, {"a": []})
    assert not holds(reply, {"e": 1})


def test_the_blocks_of_a_page_share_a_directory_names_and_variables(tmp_path: Path) -> None:
    page = """\
```text title="data/a.txt"
text
```
```console
$ export WHAT='a thing'  # a comment
$ cat data/a.txt && echo "$WHAT"
text
a thing
$ false
# exit 1
```
```python
from pathlib import Path
found = Path("data/a.txt").read_text()
```
```python
print(found)
```
```text
text
```
"""
    assert run(page, tmp_path)["found"] == "text\n"


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ false\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nassert False\n```\n",
        "```http\nGET /\n```\n",
    ],
)
def test_a_wrong_page_fails(page: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run(page, tmp_path)


def test_options_are_checked_anywhere_in_a_line() -> None:
    check_options("cat a.jsonl | es-simhash load articles - --field body > out && es-simhash find articles --id 1")
    check_options("pip install es-simhash")
    with pytest.raises(Exception, match="No such option"):
        check_options("true && es-simhash find articles --no-such-option")
    with pytest.raises(AssertionError, match="no command es-simhash no-such"):
        check_options("es-simhash no-such")


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("es-simhash find articles --text '(a; b)'  # of a", ["find", "articles", "--text", "(a; b)"]),
        ("es-simhash find articles --text ''", ["find", "articles", "--text", ""]),
        ("es-simhash find articles > found", None),
        ("es-simhash init a && es-simhash init b", None),
        ('es-simhash find "$INDEX"', None),
        ("A=1 es-simhash init a", None),
        ("ls", None),
    ],
)
def test_a_line_runs_without_a_shell_only_if_that_changes_nothing(line: str, arguments: list[str] | None) -> None:
    assert alone(line) == arguments


@pytest.mark.skipif(which("flock") is None, reason="it holds a file for as long as it runs")
def test_what_a_page_that_fails_has_begun_is_ended(tmp_path: Path) -> None:
    hold = "flock held sleep 1000 > /dev/null 2>&1 & while flock --nonblock held true; do :; done"
    with pytest.raises(AssertionError, match="false"):
        run(f"```console\n$ {hold}\n$ false\n```\n", tmp_path)
    subprocess.run(["flock", "held", "true"], cwd=tmp_path / "work", timeout=60, check=True)
