"""The errors if one side speaks TLS and the other does not, or does not trust the certificate."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import trustme

from tests.support.commands import run
from tests.support.http_server import Answer, serving

SERVER = Answer({"version": {"number": "9.4.3"}, "tagline": "You Know, for Search"})
AUTHORITY = trustme.CA()


def context(name: str = "127.0.0.1") -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(name).configure_cert(made)
    return made


@pytest.fixture
def closing() -> Iterator[str]:
    """The address of a server that breaks off what does not begin TLS, as Elasticsearch does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    one, _ = server.accept()
                except OSError:
                    return
                try:
                    context().wrap_socket(one, server_side=True).close()
                except OSError:
                    one.close()

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_https_to_a_server_without_tls_says_http(tmp_path: Path) -> None:
    with serving(SERVER) as server:
        done = run("info", "articles", "--url", server.url.replace("http:", "https:"), cwd=tmp_path, code=4)
    assert "The server answers without TLS: use http:// in the address." in done.err


def test_http_to_a_server_with_tls_says_https(closing: str, tmp_path: Path) -> None:
    done = run("info", "articles", "--url", closing, cwd=tmp_path, code=4)
    assert f"{closing} answers only by TLS. Use https:// in the address." in done.err


@pytest.mark.parametrize(
    "words", ["The plain HTTP request was sent to HTTPS port", "Client sent an HTTP request to an HTTPS server."]
)
def test_a_proxy_that_says_so_itself_is_understood(words: str, tmp_path: Path) -> None:
    with serving(Answer(words, 400, "text/html")) as server:
        done = run("info", "articles", "--url", server.url, cwd=tmp_path, code=4)
    assert "Use https:// in the address." in done.err


def test_a_certificate_of_ones_own_is_answered_with_the_option_for_it(tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with serving(SERVER, tls=context()) as server:
        done = run("info", "articles", "--url", server.url, cwd=tmp_path, code=4)
        assert "--ca-certs FILE (in Python ca_certs)" in done.err
        known = run("info", "articles", "--url", server.url, "--ca-certs", "ca.pem", cwd=tmp_path, code=None)
    assert "--ca-certs" not in known.err


def test_a_certificate_of_another_name_does_not_concern_authorities(tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with serving(SERVER, tls=context("elsewhere.example")) as server:
        done = run("info", "a", "--url", server.url, "--ca-certs", "ca.pem", cwd=tmp_path, code=4)
    assert "Use a name in the address that the certificate is for." in done.err
