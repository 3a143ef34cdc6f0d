# The index demo with groups, on the server of ES_SIMHASH_URL, and a dashboard about them in the Kibana of KIBANA_URL,
# which people open at OPEN_AT. Running it again makes the same documents, groups and saved objects.
set -eu
here=$(dirname "$0")
python "$here/documents.py" "${SIZE:-2000}" > demo.jsonl
es-simhash load demo demo.jsonl --field title --field body
es-simhash group demo --canonical oldest:published --write --output demo-groups.jsonl
page=$(es-simhash dashboard demo --date published --breakdown site.keyword --import --kibana-url "$KIBANA_URL")
echo "Open $OPEN_AT${page#"$KIBANA_URL"}"
