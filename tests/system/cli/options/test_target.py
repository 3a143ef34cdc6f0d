"""Which engine a command works on, by options, profile and environment."""

from __future__ import annotations

import base64
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
import trustme

from es_simhash.cli.options.target import Target
from es_simhash.cli.show.output import Output
from es_simhash.engines.base import Engine
from es_simhash.engines.elasticsearch import ElasticsearchEngine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.engines.opensearch import OpenSearchEngine
from es_simhash.errors import MissingExtraError, UnreachableError
from es_simhash.plans.operations import GetInfo
from tests.support.cli_targets import refusal, target_of
from tests.support.commands import run_alone
from tests.support.http_server import Answer, serving

pytestmark = pytest.mark.each_server

CLOUD_ID = "name:" + base64.b64encode(b"eu-west-1.aws.example.io$7f3a$9c1b").decode()
CLOUD_ADDRESS = "https://7f3a.eu-west-1.aws.example.io:443"
ELASTICSEARCH = Answer({"version": {"number": "9.4.3"}})
OPENSEARCH = Answer({"version": {"number": "3.8.0", "distribution": "opensearch"}}, product="none")
VARIABLES = ("ES_SIMHASH_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL")
SERVER = ("--url", "https://host")


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """A file with a profile ``p`` for https://profiled."""
    path = tmp_path / "config.toml"
    path.write_text('[profiles.p]\nurl = "https://profiled"\ndistribution = "opensearch"\nca_certs = "ca.pem"\n')
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    return path


# ---- the order


def test_without_any_setting_it_is_the_embedded_directory() -> None:
    assert target_of().description == "the embedded engine in .es-simhash (the default)"


def test_each_origin_gives_way_to_those_before_it(profiles: Path) -> None:
    variables = {name: f"http://{name.lower().replace('_', '-')}" for name in VARIABLES}
    given: dict[str, str] = {}
    said = []
    for name in reversed(VARIABLES):
        given[name] = variables[name]
        said.append(target_of(**given).description)
    given["ES_SIMHASH_CONFIG"], given["ES_SIMHASH_PROFILE"] = str(profiles), "p"
    said.append(target_of(**given).description)
    said.append(target_of("--url", "http://option", **given).description)
    assert said == [
        "the server http://opensearch-url:9200 (OPENSEARCH_URL)",
        "the server http://elasticsearch-url:9200 (ELASTICSEARCH_URL)",
        "the server http://es-simhash-url:9200 (ES_SIMHASH_URL)",
        "the server https://profiled:443 (url in [profiles.p])",
        "the server http://option:9200 (--url)",
    ]


def test_the_option_names_a_profile_before_the_variable(profiles: Path) -> None:
    target = target_of("--profile", "p", ES_SIMHASH_CONFIG=str(profiles), ES_SIMHASH_PROFILE="other")
    assert target.place == "https://profiled:443"


def test_a_profile_that_is_not_taken_is_not_read() -> None:
    assert target_of(*SERVER, ES_SIMHASH_PROFILE="p", ES_SIMHASH_CONFIG="/no/such.toml").source == "--url"


def test_an_empty_variable_says_nothing_but_an_empty_option_is_refused() -> None:
    assert target_of(ES_SIMHASH_URL="", ELASTICSEARCH_URL="", OPENSEARCH_URL="", ES_SIMHASH_PROFILE="").place[0] == "."
    for option in ("--url", "--profile", "--cloud-id", "--user", "--api-key", "--aws-sigv4"):
        assert f"{option} is empty." in refusal(option, "")


def test_options_go_before_the_settings_of_the_profile(profiles: Path) -> None:
    chosen = ("--profile", "p", "--distribution", "elasticsearch", "--insecure")
    target = target_of(*chosen, ES_SIMHASH_CONFIG=str(profiles))
    assert target.distribution == "elasticsearch"
    assert target.tls == {"verify_certs": False, "ssl_show_warn": False}


def test_a_profile_brings_its_settings(profiles: Path) -> None:
    target = target_of("--profile", "p", ES_SIMHASH_CONFIG=str(profiles))
    assert target.distribution == "opensearch"
    assert target.tls == {"ca_certs": str(profiles.parent / "ca.pem")}


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h", "http://h:9200"),
        ("HTTPS://H:8443/path/", "https://h:8443/path"),
        ("https://[::1]", "https://[::1]:443"),
        ("http://bob@h", "http://h:9200"),
    ],
)
def test_a_url_is_brought_into_one_form(url: str, address: str) -> None:
    assert target_of("--url", url).place == address


@pytest.mark.parametrize("directory", ["index", "./host:9200", "/srv/me@home/index", "C:\\index", "httpdocs"])
def test_anything_else_is_a_directory(directory: str) -> None:
    assert target_of("--url", directory).description == f"the embedded engine in {directory} (--url)"


@pytest.mark.parametrize(
    "url", ["es1:9200", "bob:pa/ss@host:9200", "me@host", "ftp://bob:pass@host", "http:/bob:pass@host", "https:x"]
)
def test_what_was_meant_as_an_address_is_not_a_directory_and_is_not_repeated(url: str) -> None:
    said = refusal("--url", url)
    assert "begins with neither http:// nor https://" in said
    assert url not in said


@pytest.mark.parametrize(
    "url", ["http://", "http://bob:a/b@host", "http://bob:pa?ss@host", "http://h:pass", "http://h#x"]
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    said = refusal("--url", url)
    assert "The URL cannot be read" in said
    assert url.removeprefix("http://") not in said or url == "http://"


def test_a_cloud_id_is_the_address_of_its_deployment() -> None:
    target = target_of("--cloud-id", CLOUD_ID, ES_SIMHASH_URL="http://h", ES_SIMHASH_PROFILE="p")
    assert target.description == f"the server {CLOUD_ADDRESS} (--cloud-id)"
    assert target.distribution == "elasticsearch"


@pytest.mark.parametrize("cloud_id", ["x", "name:###", "name:", "name:" + base64.b64encode(b"host").decode(), "n:é"])
def test_a_cloud_id_that_cannot_be_read(cloud_id: str) -> None:
    assert "The cloud ID cannot be read" in refusal("--cloud-id", cloud_id)


def test_a_cloud_id_needs_the_client_of_elasticsearch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elastic_transport.client_utils", None)
    with pytest.raises(MissingExtraError, match=r"\[elasticsearch\]"):
        target_of("--cloud-id", CLOUD_ID)


# ---- what does not go together


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--url", "http://h", "--cloud-id", CLOUD_ID), "Drop --cloud-id, or else --url."),
        (("--url", "http://h", "--profile", "p"), "Drop --profile, or else --url."),
        (("--cloud-id", CLOUD_ID, "--profile", "p"), "Drop --profile, or else --cloud-id."),
        ((*SERVER, "--user", "bob", "--api-key", "k"), "Drop --api-key, or else --user."),
        (("--url", "https://al@h", "--user", "bob"), "Drop the user in --url, or else --user."),
        ((*SERVER, "--api-key", "k", "--api-key-file", __file__), "Drop --api-key-file, or else --api-key."),
        ((*SERVER, "--api-key", "k", "--aws-sigv4", "r", "--user", "u"), "Drop --api-key and --aws-sigv4, or else"),
        (("--url", "https://al:pw@h", "--password-file", __file__), "Drop --password-file, or else the password in"),
        ((*SERVER, "--password-file", __file__), "--password-file is there without a user. Name the user too"),
        ((*SERVER, "--api-key", "k", "--password-file", __file__), "--password-file is there without a user."),
        ((*SERVER, "--insecure", "--ca-certs", __file__), "Drop --insecure, or else --ca-certs."),
        (("--url", "http://h", "--insecure"), "http://h:9200 has none. Write https://, or drop it."),
        ((*SERVER, "--ca-certs", __file__), "cannot be read as certificates. Name a file"),
        (("--url", "dir", "--user", "bob"), "--user would be for a server, but this is the embedded engine in dir"),
        (("--api-key", "k", "--insecure"), "in .es-simhash (the default). Drop them, or name a server with --url."),
        (("--cloud-id", CLOUD_ID, "--distribution", "opensearch"), "--cloud-id is for elasticsearch, but --distribut"),
        (("--cloud-id", CLOUD_ID, "--aws-sigv4", "r"), "--aws-sigv4 is for opensearch. Drop one of them."),
        ((*SERVER, "--aws-sigv4", "r", "--distribution", "elasticsearch"), "Drop one of them."),
        ((*SERVER, "--user", "bob:pw"), "--user is empty or contains a colon"),
        (("--url", "http://:pw@h"), "The user in --url is empty or contains a colon"),
    ],
)
def test_what_contradicts_itself_says_what_to_drop(options: tuple[str, ...], said: str) -> None:
    assert said in " ".join(refusal(*options, ES_SIMHASH_API_KEY="ignored").split())


def test_two_logins_of_the_environment_contradict_each_other() -> None:
    said = refusal(ES_SIMHASH_URL="http://al:pw@h", ES_SIMHASH_API_KEY="k")
    assert "Drop ES_SIMHASH_API_KEY, or else the user in ES_SIMHASH_URL." in said


def test_variables_with_logins_are_not_reason_to_refuse_a_directory() -> None:
    target = target_of("--url", "dir", ES_SIMHASH_API_KEY="k", ES_SIMHASH_PASSWORD="p")
    assert target.login is None


# ---- opening it


def opened(target: Target, output: Output | None = None) -> tuple[type[Engine], str]:
    """The kind of engine that a target opens, and what the engine says it is."""
    with target.opened(output or Output()) as engine:
        return type(engine), engine.perform(GetInfo()).distribution


def test_a_directory_is_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = target_of("--url", str(tmp_path))
    assert opened(target) == (EmbeddedEngine, "embedded")
    assert capsys.readouterr().err == f"Using the embedded engine in {tmp_path} (--url).\n"
    opened(target, Output(quiet=True))
    assert capsys.readouterr() == ("", "")


def test_the_engine_is_closed_also_after_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    close = Mock()
    monkeypatch.setattr(EmbeddedEngine, "close", close)
    with pytest.raises(ZeroDivisionError), target_of("--url", str(tmp_path)).opened(Output(quiet=True)):
        raise ZeroDivisionError
    close.assert_called_once_with()


@pytest.mark.parametrize(("answer", "kind"), [(ELASTICSEARCH, ElasticsearchEngine), (OPENSEARCH, OpenSearchEngine)])
def test_a_server_is_asked_which_one_it_is(answer: Answer, kind: type) -> None:
    with serving(answer) as server:
        assert opened(target_of("--url", server.url))[0] is kind


def test_a_server_that_must_not_be_asked_is_not_asked() -> None:
    with serving(ELASTICSEARCH) as server:
        target = target_of("--url", server.url, "--distribution", "opensearch")
        with target.opened(Output()) as engine:
            assert isinstance(engine, OpenSearchEngine)
        assert server.requests == []


# ---- certificates


class Tls:
    """An authority, a server's side with a certificate of it, and the options with which it is trusted."""

    def __init__(self, directory: Path) -> None:
        authority = trustme.CA()
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self.server)
        self.certificates = directory / "authority.pem"
        authority.cert_pem.write_to_path(self.certificates)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return Tls(tmp_path_factory.mktemp("tls"))


@pytest.fixture(params=["elasticsearch", "opensearch"])
def server(request: pytest.FixtureRequest, tls: Tls) -> Iterator[tuple[str, ...]]:
    """The options that name a server with TLS, of either kind."""
    answer = OPENSEARCH if request.param == "opensearch" else ELASTICSEARCH
    with serving(answer, tls=tls.server) as server:
        yield "--url", server.url, "--distribution", request.param


def test_an_unknown_certificate_is_not_trusted(server: tuple[str, ...]) -> None:
    with pytest.raises(UnreachableError, match="certificate"):
        opened(target_of(*server))


def test_a_certificate_of_a_named_authority_is_trusted(server: tuple[str, ...], tls: Tls) -> None:
    assert opened(target_of(*server, "--ca-certs", str(tls.certificates)))[1] == server[-1]


def test_insecure_takes_any_certificate_and_says_so_every_time(
    server: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    target = target_of(*server, "--insecure")
    for _ in range(2):  # any warning of the clients' own would be an error here
        assert opened(target, Output(quiet=True))[1] == server[-1]
        assert capsys.readouterr().err.count("Warning: the certificate of https://127.0.0.1") == 1


def test_insecure_in_a_process_of_its_own_shows_only_our_warning(server: tuple[str, ...]) -> None:
    done = run_alone("info", "articles", *server, "--insecure", code=None)
    warnings = [line for line in done.err.splitlines() if "warning" in line.lower()]
    assert len(warnings) == 1
    assert "--ca-certs" in warnings[0]


# ---- the cost of it


def test_nothing_but_click_is_loaded_before_a_target_is_used() -> None:
    heavy = ["numpy", "rich", "tomllib", "ssl", "urllib3", "boto3", "elasticsearch", "opensearchpy", "tantivy"]
    code = f"import sys, es_simhash.cli.options.target; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
