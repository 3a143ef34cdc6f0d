# The index demo with groups, on the server of ES_SIMHASH_URL, and a dashboard about them in the Kibana of KIBANA_URL,
# which people open at OPEN_AT. Running it again makes the same documents, groups and saved objects.
set -eu
here=$(dirname "$0")
python "$here/documents.py" "${SIZE:-2000}" > demo.jsonl
es-simhash load demo demo.jsonl --field title --field body
es-simhash group demo --canonical oldest:published --write --output demo-groups.jsonl
es-simhash dashboard demo --date published --breakdown site.keyword --output demo.ndjson
curl --fail --silent --show-error --write-out '\n' -X POST "$KIBANA_URL/api/saved_objects/_import?overwrite=true" \
  -H 'kbn-xsrf: true' -H 'osd-xsrf: true' --form file=@demo.ndjson
echo "Open $OPEN_AT/app/dashboards"
