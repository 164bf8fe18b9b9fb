#!/usr/bin/env bash
# The step of action.yml. Values, links and keys appear in no argument, and in the log only in the command that masks them.
# For every bash since 3.2, which macOS has.
set -euo pipefail

# As workflow commands need it: one line, in which nothing starts another command.
escape() {
  local text=$1
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '%s' "${text//$'\n'/%0A}"
}

# The command's words, with what the action calls its options and without its usage.
fail() {
  local text=${1%%$'\n'Usage: *}
  text=${text//Standard input/read}
  text=${text//use --passphrase-file or MAYFLY_PASSPHRASE/set the input passphrase}
  text=${text//The command was not started. /}
  text=${text//--recipient needs --plain/The input recipient needs plain: true}
  text=${text//With --plain/With plain: true}
  printf '::error title=Mayfly::%s\n' "$(escape "$text")"
  exit 1
}

# The runner masks each line of a text, too.
mask() {
  [ -z "$1" ] || printf '::add-mask::%s\n' "$(escape "$1")"
}

# What the runner keeps for itself, or what would change how this script or a later step works.
refuse_name() {
  case $1 in
    GITHUB_* | RUNNER_* | ACTIONS_* | INPUT_* | MAYFLY_* | mayfly_* | LD_* | DYLD_* | BASH* | NODE_OPTIONS | PATH | HOME | IFS | ENV | SHELLOPTS | CI)
      fail "read: $1 is no name for a secret; nothing was read."
      ;;
  esac
}

# Runs as the command of `mayfly run`, with the values in its environment; its own variables have names that no secret has.
export_values() {
  local mayfly_name mayfly_end
  for mayfly_name in "$@"; do mask "${!mayfly_name}"; done
  for mayfly_name in "$@"; do
    # A value that knew the delimiter could set other variables.
    mayfly_end=end_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    [ "${#mayfly_end}" -eq 36 ] || exit 1
    printf '%s<<%s\n%s\n%s\n' "$mayfly_name" "$mayfly_end" "${!mayfly_name}" "$mayfly_end" >>"$GITHUB_ENV"
  done
}

names_in() {
  local line
  while IFS= read -r line; do
    case ${line//[[:space:]]/} in
      '' | '#'*) ;;
      *=*) printf '%s\n' "${line%%=*}" ;;
      *) printf '\n' ;;
    esac
  done < <(printf '%s\n' "$1")
}

# Shows where to answer while the command waits. Begun so, no line is a workflow command.
show_links() {
  local line
  while IFS= read -r line; do
    case $line in
      'Anyone with this link can answer '* | http*/ask/*) printf 'Mayfly: %s\n' "$line" >&3 ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

read_values() {
  local names=() prompts=() name line words
  while IFS= read -r name; do
    [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail 'read: every line must be NAME=LINK; nothing was read.'
    refuse_name "$name"
    names+=("$name")
  done < <(names_in "$1")
  [ "${#names[@]}" -gt 0 ] || [ -z "$1" ] || fail 'read: there is no NAME=LINK line.'
  while IFS= read -r name; do
    [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail 'ask: every line must be NAME=PROMPT; nobody was asked.'
    refuse_name "$name"
    names+=("$name")
  done < <(names_in "$2")
  while IFS= read -r line; do
    case ${line//[[:space:]]/} in '' | '#'*) ;; *) prompts+=(--ask "$line") ;; esac
  done < <(printf '%s\n' "$2")
  { [ -f "${GITHUB_ENV:-}" ] && [ -w "$GITHUB_ENV" ]; } || fail 'The file GITHUB_ENV of the runner cannot be written; nothing was read.'
  # The words of the command, apart from the masks, so that no server can write workflow commands.
  exec 3>&1
  words=$(printf '%s\n' "$1" |
    "$executable" run --secrets-file - ${prompts[@]+"${prompts[@]}"} -- bash "$0" export "${names[@]}" 2>&1 1>&3 | show_links) ||
    fail "${words:-$executable failed.}"
}

share_file() {
  local options=() answer words_file words
  [ -f "$1" ] || fail "share-file: there is no file $1."
  { [ -f "${GITHUB_OUTPUT:-}" ] && [ -w "$GITHUB_OUTPUT" ]; } || fail 'The file GITHUB_OUTPUT of the runner cannot be written; nothing was shared.'
  [ -z "$ttl" ] || options+=("--ttl=$ttl")
  [ -z "$recipient" ] || options+=("--recipient=$recipient")
  [ -z "$memo" ] || options+=("--memo=$memo")
  [ "$plain" != true ] || options+=(--plain)
  words_file=$(mktemp "${RUNNER_TEMP:-/tmp}/mayfly.XXXXXX")
  # With `+`: an empty list is an unset variable before bash 4.4.
  answer=$("$executable" share --json ${options[@]+"${options[@]}"} <"$1" 2>"$words_file") || answer=
  words=$(cat "$words_file")
  rm "$words_file"
  [[ $answer =~ \"link\":\"(https?://[^\"[:space:]#]+/([0-9a-z]+)(#([A-Za-z0-9_-]+))?)\" ]] || fail "${words:-$executable failed.}"
  local link=${BASH_REMATCH[1]} key=${BASH_REMATCH[2]} fragment=${BASH_REMATCH[4]:-}
  [[ $answer =~ \"metadata_key\":\"([0-9a-z]+)\" ]] || fail "$executable gave no metadata key."
  local metadata_key=${BASH_REMATCH[1]}
  mask "$link"
  mask "$key"
  mask "$fragment"
  mask "$metadata_key"
  printf 'link=%s\nmetadata-key=%s\n' "$link" "$metadata_key" >>"$GITHUB_OUTPUT"
  [ -z "$words" ] || printf '::notice title=Mayfly::%s\n' "$(escape "$words")"
}

sha256_of() {
  local line
  line=$(sha256sum <"$1" 2>/dev/null || shasum -a 256 <"$1")
  printf '%s' "${line%% *}"
}

# Nothing that was fetched runs before its checksum has proved right.
install_command() {
  local folder words found
  [[ $checksum =~ ^[0-9a-f]{64}$ ]] || fail 'install: a SHA-256 has 64 hex digits, in lower case; nothing was fetched.'
  [ -n "$server" ] || fail 'install needs the input server, which the command is fetched from.'
  folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/mayfly.XXXXXX")
  words=$(curl --fail --silent --show-error --location --max-time 120 --output "$folder/mayfly.tgz" "${server%/}/mayfly.tgz" 2>&1) ||
    fail "install: $server/mayfly.tgz could not be fetched. $words"
  found=$(sha256_of "$folder/mayfly.tgz")
  [ "$found" = "$checksum" ] || fail "install: $server/mayfly.tgz has the SHA-256 $found, not the expected one; nothing of it was run."
  words=$(npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund "$folder/mayfly.tgz" 2>&1) ||
    fail "install: npm could not install the command. $words"
  executable=$folder/node_modules/.bin/mayfly
}

if [ "${1:-}" = export ]; then
  shift
  export_values "$@"
  exit
fi

# Without the byte order mark of a Windows file.
links=${INPUT_READ#$'\xEF\xBB\xBF'} asks=${INPUT_ASK:-} file=$INPUT_SHARE_FILE ttl=$INPUT_TTL recipient=$INPUT_RECIPIENT memo=$INPUT_MEMO
plain=$INPUT_PLAIN server=$INPUT_SERVER passphrase=$INPUT_PASSPHRASE username=$INPUT_USERNAME token=$INPUT_TOKEN
executable=$INPUT_EXECUTABLE checksum=$INPUT_INSTALL
unset "${!INPUT_@}"
[ -z "$checksum" ] || install_command
# An absent input is an empty variable, and must not hide what the job has set.
[ -z "$server" ] || export MAYFLY_SERVER=$server
[ -z "$passphrase" ] || export MAYFLY_PASSPHRASE=$passphrase
[ -z "$username" ] || export MAYFLY_USERNAME=$username
[ -z "$token" ] || export MAYFLY_TOKEN=$token

command -v "$executable" >/dev/null || fail "There is no command $executable: install it in an earlier step, or name it in the input executable."
case "${links:+read}${asks:+ask} ${file:+share}" in
  'read ' | 'ask ' | 'readask ') read_values "$links" "$asks" ;;
  ' share') share_file "$file" ;;
  *) fail 'Use either the inputs read and ask, or the input share-file.' ;;
esac
