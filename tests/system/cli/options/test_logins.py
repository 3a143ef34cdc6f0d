"""Logging in from the command line: what is sent, and that nothing secret is ever shown."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from es_simhash.cli.options.target import aws_service, server_at
from es_simhash.errors import MissingExtraError
from es_simhash.plans.operations import Count, GetInfo
from tests import ROOT
from tests.support.cli_targets import everything_shown, target_of
from tests.support.commands import Run, environment, only, run
from tests.support.http_server import Answer, serving
from tools.nodes import Node

INDEX = "articles"
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "session-token",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


# ---- what is sent


class Received(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def receiving() -> Iterator[tuple[str, list[Received]]]:
    """The URL of a server that passes for either engine, and the requests that it has had."""
    received: list[Received] = []
    answer = json.dumps({"version": {"number": "9.4.3"}, "count": 0, "_shards": {"total": 1, "failed": 0}}).encode()

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.append(Received(self.command, self.path, headers, body))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = _reply  # noqa: N815 - the names that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


def sent(distribution: str, *arguments: str, login: str = "", **variables: str) -> list[Received]:
    """The requests that come of these options; ``login`` is put into the URL."""
    with receiving() as (url, received):
        place = url.replace("://", f"://{login}")
        target = target_of("--url", place, "--distribution", distribution, *arguments, **variables)
        with only(variables):
            engine = target.connect()
            engine.perform(GetInfo())
            engine.perform(Count("a,b", {"term": {"title": "naïve"}}))
            engine.close()
    return received


def authorization(*arguments: str, login: str = "", **variables: str) -> str | None:
    """The header that either client sends with each request."""
    headers = {
        request.headers.get("authorization")
        for distribution in ("elasticsearch", "opensearch")
        for request in sent(distribution, *arguments, login=login, **variables)
    }
    (header,) = headers
    return header


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


@pytest.fixture
def secret_file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "secret"
        path.write_bytes(text.encode())
        return str(path)

    return write


def test_nobody_logs_in_without_being_asked_to() -> None:
    assert authorization(ES_SIMHASH_PASSWORD="idle") is None


def test_a_password_of_the_environment() -> None:
    assert authorization("--user", "bob", ES_SIMHASH_PASSWORD="pä:ß 密") == basic("bob", "pä:ß 密")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_password_of_a_file_goes_before_that_of_the_environment(secret_file: Callable[[str], str], end: str) -> None:
    path = secret_file(f" two words {end}")
    said = authorization("--user", "bob", "--password-file", path, ES_SIMHASH_PASSWORD="other")
    assert said == basic("bob", " two words ")


@pytest.mark.parametrize("text", ["", "\n", "a\nb\n", "\udcff"])
def test_a_file_that_is_not_one_line_holds_no_secret(tmp_path: Path, text: str) -> None:
    path = tmp_path / "secret"
    path.write_bytes(text.encode(errors="surrogateescape"))
    for option in ("--api-key-file", "--password-file"):
        user = ("--user", "bob") if option == "--password-file" else ()
        target = target_of("--url", "http://h", *user, option, str(path))
        with pytest.raises(click.UsageError, match=f"{path} is not one line of text"):
            target.connect()


def test_a_login_in_the_url() -> None:
    assert authorization(login="bob%40corp:p%3Aw@") == basic("bob@corp", "p:w")


def test_the_user_in_the_url_and_the_password_elsewhere() -> None:
    assert authorization(login="bob@", ES_SIMHASH_PASSWORD="pw") == basic("bob", "pw")


def test_the_login_in_a_variable_that_is_not_taken_goes_nowhere() -> None:
    assert authorization(ES_SIMHASH_URL="http://bob:pw@elsewhere") is None


def test_an_api_key_as_the_engine_encoded_it_or_as_its_parts() -> None:
    encoded = base64.b64encode(b"id:key").decode()
    assert authorization("--api-key", encoded) == authorization("--api-key", "id:key") == f"ApiKey {encoded}"


def test_an_api_key_of_a_file_goes_before_that_of_the_environment(secret_file: Callable[[str], str]) -> None:
    assert authorization("--api-key-file", secret_file("k\n"), ES_SIMHASH_API_KEY="other") == "ApiKey k"
    assert authorization(ES_SIMHASH_API_KEY="other") == "ApiKey other"
    assert authorization("--user", "al", ES_SIMHASH_API_KEY="other", ES_SIMHASH_PASSWORD="pw") == basic("al", "pw")


@pytest.mark.parametrize("key", ["m4rk3r key", "m4rk3r\nkey", "m4rk3r-ключ", " "])
def test_what_no_header_can_hold_is_not_an_api_key(key: str) -> None:
    with pytest.raises(click.UsageError, match="--api-key is not an API key") as raised:
        target_of("--url", "http://h", "--api-key", key).connect()
    assert "m4rk3r" not in raised.value.message


def test_a_profile_logs_in_and_the_command_line_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("of al\n")
    config = tmp_path / "config.toml"
    with receiving() as (url, received):
        config.write_text(f'[profiles.p]\nurl = "{url}"\nuser = "al"\npassword_file = "password"')
        for arguments in ((), ("--user", "bob")):
            variables = {"ES_SIMHASH_CONFIG": str(config), "ES_SIMHASH_PASSWORD": "of bob", "ES_SIMHASH_API_KEY": "k"}
            target = target_of("--profile", "p", *arguments, **variables)
            with only(variables):
                target.connect().close()
    # Each is asked for its kind first, without a login.
    sent = [request.headers.get("authorization") for request in received]
    assert sent == [None, basic("al", "of al"), None, basic("bob", "of bob")]


def test_who_logs_in_is_said() -> None:
    server = ("--url", "http://al:m4rk3r@h")
    assert target_of(*server).description == "the server http://h:9200 (--url), as al"
    assert target_of("--url", "http://h", "--user", "bob").description.endswith("as bob")
    assert target_of("--url", "http://h", ES_SIMHASH_API_KEY="m4rk3r").description.endswith("with ES_SIMHASH_API_KEY")


def test_what_a_url_is_taken_apart_into_does_not_show_its_password() -> None:
    assert repr(server_at("http://bob:m4rk3r@h")) == "Server(address='http://h:9200')"


def test_bytes_that_are_not_text_are_sent_as_they_are() -> None:
    said = authorization("--user", "bob", ES_SIMHASH_PASSWORD=os.fsdecode(b"\xff\xfe"))
    assert said == f"Basic {base64.b64encode(b'bob:' + bytes([255, 254])).decode()}"


# ---- signatures for AWS


def aws_signature(request: Received, region: str, service: str) -> str:
    """The Authorization header that AWS computes (Signature Version 4, as its documentation has it)."""
    given = request.headers["authorization"]
    signed = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    url = urlsplit(request.path)
    parameters = sorted(
        (quote(name, safe="~"), quote(value, safe="~")) for name, value in parse_qsl(url.query, keep_blank_values=True)
    )
    canonical = "\n".join(
        [
            request.method,
            quote(url.path, safe="/~"),
            "&".join(f"{name}={value}" for name, value in parameters),
            *(f"{name}:{request.headers[name].strip()}" for name in signed),
            "",
            ";".join(signed),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )
    moment = request.headers["x-amz-date"]
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = b"AWS4" + AWS["AWS_SECRET_ACCESS_KEY"].encode()
    for part in (*scope.split("/"), to_sign):
        key = hmac.digest(key, part.encode(), "sha256")
    credential = f"AWS4-HMAC-SHA256 Credential={AWS['AWS_ACCESS_KEY_ID']}/{scope}"
    return f"{credential}, SignedHeaders={';'.join(signed)}, Signature={key.hex()}"


def test_every_request_is_signed() -> None:
    requests = sent("opensearch", "--aws-sigv4", "eu-west-1", **AWS)
    assert [(request.method, request.path.partition("?")[0]) for request in requests] == [
        ("GET", "/"),
        ("POST", "/a,b/_count"),
    ]
    for request in requests:
        assert request.headers["authorization"] == aws_signature(request, "eu-west-1", "es")
        assert request.headers["x-amz-security-token"] == "session-token"
        assert {"host", "x-amz-content-sha256", "x-amz-security-token"} <= set(
            request.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
        )


@pytest.mark.parametrize(
    ("address", "service"),
    [
        ("https://search-x.eu-west-1.es.amazonaws.com:443", "es"),
        ("https://a1b2.eu-west-1.aoss.amazonaws.com:443", "aoss"),
        ("https://proxy.example.com:443/aoss", "es"),
    ],
)
def test_the_host_names_the_service(address: str, service: str) -> None:
    assert aws_service(address) == service


def test_what_is_signed_for_is_opensearch() -> None:
    target = target_of("--url", "https://x.aoss.amazonaws.com", "--aws-sigv4", "eu-west-1", ES_SIMHASH_API_KEY="k")
    assert target.distribution == "opensearch"
    assert target.description.endswith("with --aws-sigv4")


@pytest.mark.parametrize("missing", ["boto3", "opensearchpy"])
def test_signing_needs_the_extra(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"{missing} is not installed.*\[aws\]"):
        target_of("--url", "https://h", "--aws-sigv4", "eu-west-1").connect()


def test_no_credentials_for_aws(tmp_path: Path) -> None:
    nowhere = {name: value for name, value in AWS.items() if "KEY" not in name and "TOKEN" not in name}
    target = target_of("--url", "https://h", "--aws-sigv4", "eu-west-1")
    with only(nowhere), pytest.raises(click.UsageError, match="boto3 finds no AWS credentials"):
        target.connect()
    with only(nowhere | {"AWS_PROFILE": "none"}), pytest.raises(click.UsageError, match=r"\(none\) could not be found"):
        target.connect()


# ---- asking for a password


def test_without_a_terminal_nobody_is_asked() -> None:
    done = run("info", INDEX, "--url", "http://127.0.0.1:1", "--user", "bob", code=2)
    assert (
        "The password of bob is missing, and without a terminal nobody can be asked for it. Set ES_SIMHASH_PASSWORD"
        in done.err
    )


def on_a_terminal(typed: str, *arguments: str) -> Run:
    """A command whose input and standard error are a terminal, on which something is typed when it asks."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "es_simhash", *arguments],
        env=environment({"TERM": "dumb"}),
        stdin=its,
        stdout=subprocess.PIPE,
        stderr=its,
        encoding="utf-8",
        start_new_session=True,  # no terminal but this one
    ) as running:
        os.close(its)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
            if typed and shown.endswith(b": "):
                os.write(ours, typed.encode() + b"\n")
                typed = ""
        out = running.stdout.read() if running.stdout else ""
    os.close(ours)
    return Run(running.returncode, out, shown.decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody has it open any more
        return b""


# ---- a real server


@pytest.fixture(scope="module")
def node(guarded_node: Node) -> Iterator[Node]:
    """A node with logins, and an index that a user with the right password has made."""
    url, password = guarded_node.url, str(guarded_node.password)
    done = run("init", INDEX, "--field", "body", "--url", url, "--user", "elastic", ES_SIMHASH_PASSWORD=password)
    assert f"Using the server {url} (--url), as elastic." in done.err
    yield guarded_node
    guarded_node.request("DELETE", f"/{INDEX}")


def api_key(node: Node, *privileges: str, index: str = INDEX) -> str:
    """An API key, encoded, that may do this with the index."""
    role = {"only": {"cluster": ["monitor"], "index": [{"names": [index], "privileges": list(privileges)}]}}
    key: str = node.request("POST", "/_security/api_key", {"name": "test", "role_descriptors": role}).body["encoded"]
    return key


def test_a_password_typed_in_is_right_and_not_echoed(node: Node) -> None:
    done = on_a_terminal(str(node.password), "info", INDEX, "--json", "--url", node.url, "--user", "elastic")
    assert done.code == 0, done.err
    assert f"Password for elastic at {node.url}: " in done.err
    assert str(node.password) not in done.out + done.err
    assert json.loads(done.out)["documents"] == 0


def test_a_wrong_password_ends_with_what_to_check(node: Node) -> None:
    done = run(
        "--debug", "info", INDEX, "--url", node.url, "--user", "elastic", code=4, ES_SIMHASH_PASSWORD="wr0ng-word"
    )
    last = done.err.splitlines()[-1]
    assert "unable to authenticate user [elastic]" in last
    assert "Check user and password, or the API key (--user, --api-key-file)." in last
    assert "wr0ng-word" not in done.out + done.err
    assert basic("elastic", "wr0ng-word").split()[1] not in done.err


def test_an_api_key_with_the_privileges_is_enough(node: Node) -> None:
    key = api_key(node, "read", "view_index_metadata")
    done = run("info", INDEX, "--json", "--url", node.url, ES_SIMHASH_API_KEY=key)
    assert json.loads(done.out)["fields"] == ["body"]
    assert "with ES_SIMHASH_API_KEY" in done.err
    assert key not in done.err


def test_a_privilege_that_an_api_key_has_not_is_named(node: Node) -> None:
    key = api_key(node, "read")
    done = run("info", INDEX, "--url", node.url, "--api-key", key, code=4)
    assert "is unauthorized for API key" in done.err
    assert f"on indices [{INDEX}]" in done.err
    assert "view_index_metadata" in done.err
    assert "Have the index privilege view_index_metadata granted, or use a login that has it: docs/" in done.err
    assert key not in done.out + done.err
    assert base64.b64decode(key).decode().partition(":")[2] not in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "granted", "privilege"),
    [
        (["find", INDEX, "--text", "some text"], ["view_index_metadata"], "read"),
        (["check", INDEX, "{file}"], ["view_index_metadata"], "read"),
        (["load", INDEX, "{file}"], ["read", "view_index_metadata"], "write"),
        (["init", INDEX, "--field", "title", "--prefix", "other"], ["read", "view_index_metadata"], "manage"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_what_each_command_may_not_do_is_named(
    node: Node, tmp_path: Path, arguments: list[str], granted: list[str], privilege: str
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "1", "body": "some text"}\n', encoding="utf-8")
    given = [each.format(file=file) for each in arguments]
    done = run(*given, "--url", node.url, code=4, ES_SIMHASH_API_KEY=api_key(node, *granted))
    assert "is unauthorized for API key" in done.err
    assert privilege in done.err
    assert re.search(
        r"Have the index privilege \w+ granted, or use a login that has it: docs/how-to/security", done.err
    )


RUNBOOK = (ROOT / "docs" / "backfill.md").read_text(encoding="utf-8")
TABLE = RUNBOOK.split("<!-- privileges -->")[1].split("<!-- end of privileges -->")[0]
PRIVILEGES = re.findall(r"^\| `(\w+)` \|", TABLE, re.MULTILINE)


@pytest.fixture
def unfinished(node: Node) -> Iterator[str]:
    """An index of one document, which has no fingerprint; its mapping has the fields."""
    name = "unfinished"
    admin = ("--url", node.url, "--user", "elastic")
    run("init", name, "--field", "body", *admin, ES_SIMHASH_PASSWORD=str(node.password))
    assert node.request("PUT", f"/{name}/_doc/1?refresh=true", {"body": "some text"}).status == 201
    yield name
    node.request("DELETE", f"/{name}")


def backfill(node: Node, index: str, folder: Path, *privileges: str, options: Sequence[str] = ()) -> Run:
    key = api_key(node, *privileges, index=index)
    arguments = ["backfill", index, *options, "--url", node.url]
    return run(*arguments, code=None, ES_SIMHASH_API_KEY=key, XDG_STATE_HOME=str(folder))


def test_the_privileges_of_the_runbook_are_enough_for_a_backfill(node: Node, unfinished: str, tmp_path: Path) -> None:
    assert PRIVILEGES[-1] == "manage"
    done = backfill(node, unfinished, tmp_path, *PRIVILEGES[:-1])
    assert done.code == 0, done.err
    assert "1 document fingerprinted" in done.out
    both = {"body": "another text", "title": "a title"}
    assert node.request("PUT", f"/{unfinished}/_doc/2?refresh=true", both).status == 201
    again = backfill(node, unfinished, tmp_path, *PRIVILEGES[:-1], options=["--quiet"])
    assert (again.code, again.out, again.err) == (0, "", "")
    title = ("--field", "title", "--prefix", "titles")
    assert backfill(node, unfinished, tmp_path, *PRIVILEGES, options=title).code == 0


@pytest.mark.parametrize("missing", PRIVILEGES)
def test_a_backfill_names_the_privilege_that_it_has_not(
    node: Node, unfinished: str, tmp_path: Path, missing: str
) -> None:
    others = [each for each in PRIVILEGES[:-1] if each != missing]
    options = ("--field", "title", "--prefix", "titles") if missing == "manage" else ()
    done = backfill(node, unfinished, tmp_path, *others, options=options)
    if missing == "monitor":
        assert done.code == 0
        return
    assert done.code == 4, done.out + done.err
    assert missing in done.err
    assert re.search("Have .*privileges? .*granted", done.err)


def test_a_wrong_api_key_ends_with_what_to_check(node: Node) -> None:
    key = base64.b64encode(b"nobody:wr0ng-key").decode()
    done = run("info", INDEX, "--url", node.url, "--api-key", key, code=4)
    assert "Check user and password, or the API key" in done.err
    assert "wr0ng-key" not in done.err
    assert key not in done.err


# ---- nothing secret is shown

MARKER = "m4rk3r"
SECRETS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8).map(MARKER.__add__)
ANSWERS = {
    "fine": Answer({"version": {"number": "9.4.3"}}),
    "refusing": Answer({"error": {"type": "security_exception", "reason": "no"}, "status": 401}, 401),
    "broken": Answer("<html>", 500, "text/html"),
}


def ways_of_giving(secret: str, url: str, directory: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Options and variables, in all ways, right and wrong, in which a server's secret can be given."""
    file = directory / "secret"
    file.write_text(secret, encoding="utf-8")
    server, bob = ["--url", url], ["--user", "bob"]
    encoded, raw = (url.replace("://", f"://bob:{word}@") for word in (quote(secret, safe=""), secret))
    yield [*server, *bob], {"ES_SIMHASH_PASSWORD": secret}
    yield [*server, *bob, "--password-file", str(file)], {}
    yield [*server, "--api-key", secret], {}
    yield [*server, "--api-key", f"id:{secret}"], {}
    yield [*server, "--api-key-file", str(file)], {}
    yield server, {"ES_SIMHASH_API_KEY": secret}
    yield [*server, "--aws-sigv4", "eu-west-1"], AWS | {"AWS_SECRET_ACCESS_KEY": secret}
    for written in (encoded, raw, raw.removeprefix("http://"), raw.replace("//", "/")):
        yield ["--url", written], {}
        yield [], {"OPENSEARCH_URL": written}
    yield [*server, "--user", f"bob:{secret}"], {}
    yield [*server, *bob, "--api-key", secret], {}
    yield ["--url", str(directory), "--api-key", secret], {}
    for number, setting in enumerate((f"user='bob'\npassword={json.dumps(secret)}", f"api_key={json.dumps(secret)}")):
        for mode in (0o600, 0o644):
            config = directory / f"{number}-{mode}.toml"
            config.write_text(f"[profiles.p]\nurl = '{url}'\n{setting}\n", encoding="utf-8")
            config.chmod(mode)
            yield ["--profile", "p"], {"ES_SIMHASH_CONFIG": str(config)}


@pytest.fixture(scope="module", params=[*ANSWERS, "absent"])
def any_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that answers in one way or another, or not at all."""
    with serving(ANSWERS.get(request.param, ANSWERS["fine"])) as server:
        if request.param != "absent":
            yield server.url
    if request.param == "absent":
        yield server.url


@settings(max_examples=4)
@given(secret=SECRETS)
def test_a_secret_is_never_shown_logged_or_in_an_exception(
    any_server: str, tmp_path_factory: pytest.TempPathFactory, secret: str
) -> None:
    directory = tmp_path_factory.mktemp("secrets")
    forms = [MARKER, *(base64.b64encode(login.encode()).decode() for login in (f"bob:{secret}", f"id:{secret}"))]
    for arguments, variables in ways_of_giving(secret, any_server, directory):
        shown = everything_shown("info", "articles", *arguments, **variables)
        assert "Error: " in shown
        assert not [form for form in forms if form in shown], (arguments, variables)


@settings(max_examples=15)
@given(secret=SECRETS)
def test_a_secret_is_not_in_what_a_target_is_shown_as(secret: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    for arguments, variables in ways_of_giving(secret, "http://127.0.0.1:1", tmp_path_factory.mktemp("secrets")):
        assert MARKER not in shown_as(arguments, variables)


def shown_as(arguments: list[str], variables: dict[str, str]) -> str:
    try:
        target = target_of(*arguments, **variables)
    except click.UsageError as error:
        return error.message
    return f"{target!r} {target.description} {target.login!r}"
