"""The text of an HTML document, by selectolax (extra: html)."""

from __future__ import annotations

from es_simhash.errors import MissingExtraError

_UNSEEN = ("script", "style", "template", "noscript", "head")


def strip_html(html: str) -> str:
    """Return what a reader sees: the text nodes outside of scripts and styles, with a space between each two."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        raise MissingExtraError("selectolax, which strips HTML,", "html") from None
    if not html.strip():
        return ""
    tree = LexborHTMLParser(html)
    tree.strip_tags(list(_UNSEEN))
    return str(tree.text(separator=" ", strip=False))
