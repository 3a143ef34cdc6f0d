"""The environment variables that the package reads, and the defaults of long jobs."""

from __future__ import annotations

URL = "ES_SIMHASH_URL"
URLS = (URL, "ELASTICSEARCH_URL", "OPENSEARCH_URL")
API_KEY = "ES_SIMHASH_API_KEY"
PASSWORD = "ES_SIMHASH_PASSWORD"
PROFILE = "ES_SIMHASH_PROFILE"
GATE_TOKEN = "ES_SIMHASH_GATE_TOKEN"
CONFIG = "ES_SIMHASH_CONFIG"
NATIVE = "ES_SIMHASH_NATIVE"
CPU = "ES_SIMHASH_CPU"
CONFIG_HOME = "XDG_CONFIG_HOME"
STATE_HOME = "XDG_STATE_HOME"

# Seconds to wait for a busy engine, and bytes of memory for groups.
PATIENCE = 600.0
MEMORY = 256 << 20

MEANINGS = {
    URL: "the server or the directory to work on, unless `--url` or a profile names one",
    URLS[1]: f"the same, if `{URL}` is not set",
    URLS[2]: "the same, if neither of the two is set",
    API_KEY: "an API key, if no option logs in",
    PASSWORD: "the password of `--user`, or of the user in the URL",
    PROFILE: "the profile to use if no target is given",
    GATE_TOKEN: "the token that clients of a `gate` send, unless a file holds it",
    CONFIG: "another file of profiles",
    NATIVE: "`0` to do without the compiled kernels",
    CPU: "`avx2` or `baseline`: the instructions that compiled kernels use at most, to compare them",
    CONFIG_HOME: "the directory of configurations, which holds the file of profiles: `~/.config` by default",
    STATE_HOME: "the directory in which a backfill keeps the counts of all its runs: `~/.local/state` by default",
    "NO_COLOR": "any value: no colours",
    "TMPDIR": "where `dedup` and `group` keep what exceeds their `--memory`, and where read-only indices are opened",
}
