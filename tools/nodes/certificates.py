"""Certificates that a node and its administrator identify themselves with, made again for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .node import NodeUnavailable

if TYPE_CHECKING:
    from pathlib import Path

NODE, ADMIN = "node", "admin"
_ORGANIZATION, _UNIT = "es-simhash", "tests"


def subject(name: str) -> str:
    """Return the subject of a certificate as OpenSearch writes it."""
    return f"CN={name},OU={_UNIT},O={_ORGANIZATION}"


def write_certificates(folder: Path) -> None:
    """Write the authority's certificate, and those of the node and its administrator with their keys."""
    try:
        import trustme
        from cryptography.hazmat.primitives import serialization
    except ImportError as missing:
        raise NodeUnavailable(f"the package {missing.name}, which makes certificates, is not installed") from None
    authority = trustme.CA()
    folder.mkdir()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    for name in (NODE, ADMIN):
        issued = authority.issue_cert(
            "localhost", "127.0.0.1", common_name=name, organization_name=_ORGANIZATION, organization_unit_name=_UNIT
        )
        (folder / f"{name}.pem").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), password=None)
        # The only form of a key that a Java server reads.
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        (folder / f"{name}.key").write_bytes(key.private_bytes(*form))
