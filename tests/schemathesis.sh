#!/usr/bin/env bash
# Holds a running server against its own OpenAPI document: requests made up from the document, valid and not, with each
# kind of credential. Fails at a 5xx, an answer that breaks its schema, or a status or header that is not documented.
#
#   AUDIT_SERVER_BIN=target/debug/audit-server AUDIT_TEST_SCHEMATHESIS=venv/bin/schemathesis \
#     tests/schemathesis.sh sqlite:/tmp/empty.db sqlite
#
# Arguments: the URL of an empty database, and what to call it in the output.
# Variables: AUDIT_TEST_SCHEMATHESIS_EXAMPLES, examples per operation and phase (10); AUDIT_TEST_SCHEMATHESIS_SEED (1).
set -euo pipefail

if [ $# -ne 2 ]; then
  echo "usage: $0 DATABASE_URL LABEL" >&2
  exit 2
fi
export AUDIT_DATABASE_URL=$1
label=$2
server=${AUDIT_SERVER_BIN:?path of audit-server}
schemathesis=${AUDIT_TEST_SCHEMATHESIS:?path of schemathesis}
examples=${AUDIT_TEST_SCHEMATHESIS_EXAMPLES:-10}
seed=${AUDIT_TEST_SCHEMATHESIS_SEED:-1}

work=$(mktemp -d)
server_pid=
cleanup() {
  if [ -n "$server_pid" ]; then
    kill "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT

# A round of its own organization: what one round deletes and revokes, another does not miss.
organization() {
  "$server" org create --name "$1" --plan enterprise --json >"$work/$1.json"
}
field() {
  sed -n "s/.*\"$2\": *\"\([^\"]*\)\".*/\1/p" "$work/$1.json"
}
organization master
organization project
organization viewer
# Nobody's: its key is never sent.
organization nobody

# Streams are limited by address, and all of this comes from one.
AUDIT_STREAM_REQUESTS_PER_MINUTE=0 AUDIT_STREAM_NEW_PER_DAY=0 AUDIT_STREAM_EVENTS_PER_DAY=0 \
  AUDIT_STREAM_EVENTS_TOTAL=0 RUST_LOG=warn \
  "$server" serve --listen 127.0.0.1:0 >"$work/server.log" 2>&1 &
server_pid=$!
base=
# It ends when the server has ended; two minutes only bound a hang.
for _ in $(seq 1200); do
  base=$(sed -n 's/^listening on //p' "$work/server.log")
  if [ -n "$base" ] || ! kill -0 "$server_pid" 2>/dev/null; then break; fi
  sleep 0.1
done
if [ -z "$base" ]; then
  cat "$work/server.log" >&2
  exit 1
fi

failed=0
# round NAME CREDENTIAL [OPTION…]: one run of schemathesis.
round() {
  local name=$1 credential=$2 project
  shift 2
  project=$(field "$name" project_id)
  # A preflight without its headers is 405, not 400. A feed that waits for a minute shows nothing that one which does not
  # wait would not show; `wait` itself is tested in feed::poll.
  cat >"$work/$name.toml" <<TOML
[parameters]
"query.project_id" = "$project"
"query.wait" = 0
[checks]
missing_required_header.expected-statuses = [400, 401, 403, 405]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429]
TOML
  echo "== $label: $name"
  # The hooks have the check of invalid requests. Not everything that is refused can be said in a schema (a cursor of another
  # query, a time too far in the future, a claimed stream), so a refusal of a request that fits the schema is no failure.
  if ! PYTHONPATH=$(dirname "$0") SCHEMATHESIS_HOOKS=schemathesis_hooks "$schemathesis" --config-file "$work/$name.toml" run "$base/api/v1/openapi.json" --url "$base" \
    ${credential:+--header "Authorization: Bearer $credential"} --checks all \
    --exclude-checks positive_data_acceptance,negative_data_rejection --max-examples "$examples" --seed "$seed" --no-color "$@" \
    >"$work/$name.log" 2>&1; then
    cat "$work/$name.log"
    failed=1
  else
    grep -A1 '^Test cases:' "$work/$name.log" || true
  fi
}

round master "$(field master master_key)"
# A key that revokes itself would test nothing from then on.
round project "$(field project project_key)" --exclude-operation-id revoke_key
round nobody ""
token=$(curl -sS "$base/api/v1/viewer-tokens" -H "Authorization: Bearer $(field viewer project_key)" \
  -H 'Content-Type: application/json' -d '{"tenant_id": "acme"}' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
curl -sSf -o /dev/null "$base/api/v1/events" -H "Authorization: Bearer $(field viewer project_key)" \
  -H 'Content-Type: application/json' \
  -d '{"action":"a.b","category":"auth","tenant_id":"acme","actor":{"id":"u","type":"user","email":"j@example.com"}}'
round viewer "$token" --include-operation-id list_events --include-operation-id follow_events \
  --include-operation-id export_events

# The server's own count of its answers, which no check above can overlook.
curl -sS "$base/metrics" >"$work/metrics"
if grep -E '^audit_http_requests_total\{.*status="5' "$work/metrics"; then
  echo "$label: the server answered with 5xx" >&2
  grep -v '^listening' "$work/server.log" >&2 || true
  failed=1
fi
if ! grep -Eq '^audit_events_accepted_total [1-9][0-9]' "$work/metrics"; then
  echo "$label: hardly any event was accepted, so little was tested" >&2
  failed=1
fi
exit "$failed"
