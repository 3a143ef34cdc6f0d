"""Settings with their origin: the command line, a profile, or the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

# The settings for the user and the password in a URL.
URL_USER, URL_PASSWORD = "url_user", "url_password"
_PARTS_OF_URLS = {URL_USER: "user", URL_PASSWORD: "password"}


@dataclass(frozen=True)
class Given:
    """The settings of one origin, by option name; their repr hides them, as some are secret.

    ``named`` returns the name of a setting there: ``--api-key`` or ``ES_SIMHASH_API_KEY``.
    """

    values: Mapping[str, Any] = field(repr=False)
    named: Callable[[str], str] = field(repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any], named: Callable[[str], str]) -> Given:
        """Select the settings that were given; refuse empty ones."""
        for name, value in values.items():
            if value == "":
                raise click.UsageError(f"{named(name)} is empty. Give it a value, or leave it out.")
        return cls({name: value for name, value in values.items() if value is not None and value is not False}, named)

    def name(self, setting: str) -> str:
        """Return the name of a setting at its origin."""
        part = _PARTS_OF_URLS.get(setting)
        return f"the {part} in {self.named('url')}" if part else self.named(setting)

    def names(self, settings: Iterable[str]) -> list[str]:
        """Return the names of the settings that were given."""
        return [self.name(setting) for setting in settings if setting in self.values]

    def one_of(self, settings: Iterable[str], what: str) -> str | None:
        """Return the one of these settings that was given, if any; refuse several, called ``what``."""
        given = [setting for setting in settings if setting in self.values]
        if len(given) > 1:
            first, *others = self.names(given)
            raise click.UsageError(
                f"{first} and {' and '.join(others)} are {len(given)} {what}, and one is needed. "
                f"Drop {' and '.join(others)}, or else {first}."
            )
        return given[0] if given else None

    def with_values(self, **values: Any) -> Given:
        """Return a copy with some settings replaced or added."""
        return replace(self, values={**self.values, **values})
