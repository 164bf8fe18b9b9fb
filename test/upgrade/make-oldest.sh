#!/bin/sh
# Makes a store as the first version that had one did; README.md says which.
#
#   make-oldest.sh CHECKOUT FOLDER    CHECKOUT of that version, after `npm ci`; FOLDER empty
set -eu
old=$1
cd "$2"
library=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)
export PORT=39411 MAYFLY_DATA_DIR=$PWD/data MAYFLY_RATE_LIMITS=off NODE_ENV=production TZ=UTC
become() {
  export LD_PRELOAD="$library" FAKETIME='@2026-11-21 22:30:00'
  exec "$old/node_modules/bun/bin/bun.exe" --no-install --no-env-file \
    "--config=$old/bunfig.toml" "--tsconfig-override=$old/tsconfig.json" "$old/src/main.ts" "$@"
}
become serve &
server=$!
api=http://127.0.0.1:$PORT/api/v1
curl -s --retry 50 --retry-delay 1 --retry-connrefused "http://127.0.0.1:$PORT/healthz"
(become account create jo@example.com --json) >account.json
jo=jo@example.com:$(sed 's/.*"token":"\([^"]*\)".*/\1/' account.json)
share() {
  name=$1
  shift
  curl -s "$api/share" "$@" >"$name.json"
}
week=604800
share open -d 'secret=open sesame' -d ttl=$week
share passphrase -d 'secret=behind a word' -d passphrase=thyme -d ttl=$week
share waiting -u "$jo" -d 'secret=still waiting' -d ttl=$week
share viewed -u "$jo" -d 'secret=seen by its creator' -d passphrase=thyme -d ttl=$week
share received -u "$jo" -d 'secret=read before' -d ttl=$week
share burned -u "$jo" -d 'secret=burned before' -d ttl=$week
share short -u "$jo" -d 'secret=expired since' -d ttl=1800
share mailed -u "$jo" -d 'secret=mailed' -d recipient=friend@example.org -d ttl=$week
key() { sed 's/.*"'"$2"'":"\([^"]*\)".*/\1/' "$1.json"; }
curl -s -u "$jo" -X POST "$api/private/$(key viewed metadata_key)"
curl -s -X POST "$api/secret/$(key received secret_key)"
curl -s -u "$jo" -X POST "$api/private/$(key burned metadata_key)/burn"
kill -TERM $server
wait $server
