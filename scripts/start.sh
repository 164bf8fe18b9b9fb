#!/bin/sh
# Mayfly in a checkout, with no Node process beside it: `npm start`, and what a service manager runs. Its arguments are those
# of the `mayfly` command.
#
# It runs from an executable with bytecode, which the first start after a change builds, and from the sources where there is
# none (docs/decisions/023-start-from-bytecode.md). The program replaces this process, so signals and the exit code are its
# own.
set -u
root=$(dirname -- "$0")/..
modules=$root/node_modules
cache=$modules/.cache/mayfly

# Newer (-nt) than what npm installed from and what it wrote; else Node checks everything and installs what is missing.
installed=$cache/installed
[ "$installed" -nt "$root/package-lock.json" ] && [ "$installed" -nt "$modules/.package-lock.json" ] ||
  node "$root/scripts/install.mjs" || exit 1

# What an executable is made of: a file that was changed, replaced or restored has another size, time or inode.
inputs="src sdk docs/api.md docs/ci.md docs/codes.md docs/command.md docs/end-to-end.md docs/mcp.md docs/requests.md scripts package.json package-lock.json tsconfig.json node_modules/.package-lock.json node_modules/bun/bin/bun.exe"
list() {
  (CDPATH='' cd -- "$root" && find $inputs "$@" -printf '%p %s %T@ %C@ %i\n')
}

# The key holds the path of the executable, and the list of its inputs and of itself.
key=$cache/key
is_current() {
  [ -r "$key" ] && { read -r program && now=$(list "$program" 2>/dev/null) && [ "$now" = "$(cat)" ]; } <"$key"
}

# Every start that builds makes an executable of its own and renames the key into place, so that starts at the same time
# never see half of either. One that does not run here is not used.
build() {
  made=node_modules/.cache/mayfly/program-$$
  mkdir -p "$cache" && before=$(list) && node "$root/scripts/build.mjs" --no-packages "$root/$made" && "$root/$made" version || return
  [ "$before" = "$(list)" ] || { echo 'they changed during the build.' && return 1; }
  own=$(list "$made") && printf '%s\n%s\n' "$made" "$own" >"$key.$$" && mv -f "$key.$$" "$key"
}

# Programs that run keep their file, and a start may be about to use a younger one.
drop_old() {
  find "$cache" -name 'program-*' -mmin +10 -exec rm -rf {} + 2>/dev/null
}

# As on a machine with 256 MiB the runtime collects garbage earlier: less memory at equal CPU.
export NODE_ENV=production BUN_JSC_forceRAMSize=268435456
# A server without the compiler's last tier (docs/decisions/069-no-last-tier.md).
[ "${1-}" = serve ] && export BUN_JSC_useFTLJIT=0

is_current && exec "$root/$program" "$@"
case ${1-} in
  serve | router)
    echo 'Mayfly compiles itself, once after each change.' >&2
    if words=$(build 2>&1) && is_current; then
      drop_old
      exec "$root/$program" "$@"
    fi
    echo "Mayfly starts from its sources, which takes longer: $words" >&2
    ;;
esac
exec "$modules/bun/bin/bun.exe" --no-install --no-env-file "--config=$root/bunfig.toml" \
  "--tsconfig-override=$root/tsconfig.json" "$root/scripts/entry.ts" "$@"
