#!/usr/bin/env bash
# The acceptance test: a built dyn, its real processes, real sockets, a real
# ledger, and real agents where they can be had.   scripts/acceptance.sh
# Only the part with a real model, which then has to be there: acceptance.sh real
#
# Everything it writes lies in a folder of its own that it removes. The agents
# are those of scripts/clients.sh, which says where they come from and how they
# are kept apart: answers, tool loops, resumes and compactions of Claude Code
# and Codex, Claude Code's hooks, its session of ten turns and one in another
# folder. What cannot be tried is skipped, and said again at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
dyn=$top/dyn
brain=$top/scripts/brain.yaml
skipped=()

say() { printf '\n-- %s\n' "$1"; }
ok() { printf 'ok: %s\n' "$1"; }
die() { printf 'FAILED: %s\n' "$1" >&2; "$dyn" logs -n 20 >&2 || true; exit 1; }
url() { "$dyn" ps --json=daemon | sed -n 's/.*"url": "\(.*\)".*/\1/p'; }
# column WORKER NAME prints what dyn ps has in a column; WORKER all is each one's.
column() {
  "$dyn" ps | awk -F'\t' -v w="$1" -v name="$2" \
    'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) n = i; if (!n) exit 1; next} w == "all" || $1 == w {print $n}'
}
pids() { column all PID; }
rows() { "$dyn" stats --turns --no-header | wc -l; }

# until_true SECONDS COMMAND… waits for a command to succeed.
until_true() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}
dead() { local p; for p in "$@"; do ! kill -0 "$p" 2>/dev/null || return 1; done; }
up() { "$dyn" up sim --port 0 --brain "$brain" "$@" 2>"$work/up.err" || { cat "$work/up.err" >&2; die "dyn up $*"; }; }
fresh() { "$dyn" down --now >/dev/null; rm -rf "$XDG_STATE_HOME/dyn"; }

work=$(mktemp -d)
GOCACHE=$(go env GOCACHE) # not the empty cache folder below
export GOCACHE
export CLIENTS_CACHE=${CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-clients}
# Where a real model and its engine may be: the user's own folders, and those of make engines.
owndata=${XDG_DATA_HOME:-$HOME/.local/share} owncache=${XDG_CACHE_HOME:-$HOME/.cache}
engines=${ENGINES_WORK:-$owncache/dyn-engines}
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
finish() { "$dyn" down --now >/dev/null 2>&1 || true; rm -rf "$work"; }
trap finish EXIT

# homed DATA CACHE COMMAND… runs a command with these folders for engines and models.
homed() { local data=$1 cache=$2; shift 2; XDG_DATA_HOME=$data XDG_CACHE_HOME=$cache "$@"; }
there() { homed "$@" "$dyn" up tiny --dry-run --json | grep -q '"command"' && ! homed "$@" "$dyn" up tiny --dry-run | grep -q '^engine.*not installed'; }
number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$work/again.json"; }

# real runs the recipe tiny where it and its engine are installed; else it returns 1.
real() {
  local at
  say "a real model"
  fresh
  if there "$owndata" "$owncache"; then at=("$owndata" "$owncache")
  elif there "$engines/data" "$engines/cache"; then at=("$engines/data" "$engines/cache")
  else return 1; fi
  homed "${at[@]}" "$dyn" up tiny --port 0 2>"$work/up.err" || { cat "$work/up.err" >&2; die "dyn up tiny"; }
  "$dyn" ps
  "$dyn" run --max-tokens 40 "Why is the sky blue?" 2>"$work/run.err" | tee "$work/said" || { cat "$work/run.err" >&2; die "dyn run"; }
  [ -s "$work/said" ] || die "the model said nothing"
  "$dyn" run --max-tokens 8 --json "Why is the sky blue?" >"$work/again.json"
  [ "$(number output_tokens)" = 8 ] || die "8 tokens were asked for: $(cat "$work/again.json")"
  [ "$(number cached_tokens)" -gt 0 ] || die "nothing was cached the second time: $(cat "$work/again.json")"
  ok "a real model ran, from ${at[0]}: $(number cached_tokens) of $(number prompt_tokens) tokens were cached the second time"
}

say "build"
[ -x "$dyn" ] || make build
if [ "${1:-}" = real ]; then
  real || die "nothing that runs tiny is installed. try: make engines, or dyn up tiny"
  "$dyn" down
  printf '1 passed, 0 failed\n'
  exit
fi
CGO_CFLAGS=${CGO_CFLAGS:-"-O2 -g -Wno-deprecated-declarations"} go build -o "$work/accept" ./scripts/accept

say "three workers, two agents, three dialects"
up --workers 3
"$work/accept" talk "$(url)" a
sleep 1.2 # the ledger may trail by a second
"$dyn" stats
"$dyn" stats --turns --json >"$work/turns.json"
"$work/accept" cached "$work/turns.json"

say "the same under round robin has to fail"
fresh
up --workers 3 --policy round-robin >/dev/null
"$work/accept" talk "$(url)" a
sleep 1.2
"$dyn" stats --turns --json >"$work/robin.json"
if "$work/accept" cached "$work/robin.json" >"$work/robin.txt" 2>&1; then
  die "round robin passed the check, so the check shows nothing"
fi
tail -1 "$work/robin.txt"
ok "round robin fails it"

say "more turns than slots"
fresh
up --workers 3 --max-num-seqs 4 >/dev/null
"$work/accept" talk "$(url)" a # so that there is something to overlap with
"$work/accept" crowd "$(url)" "$dyn"
"$dyn" top --once

say "real agents"
"$dyn" down --now >/dev/null
cases=claude:once,launched,loop,resume,compact,hooks,ten
scripts/clients.sh "$cases" codex:once,launched,loop,resume,compact 2>&1 | tee "$work/clients.txt" || die "a real agent was not served well"
while read -r line; do skipped+=("${line#'!! SKIPPED: '}"); done < <(grep '^!! SKIPPED' "$work/clients.txt" || true)

say "a worker is killed"
fresh
up --workers 3 >/dev/null
"$work/accept" talk "$(url)" b
victim=$(column w1 PID)
kill -9 "$victim"
again() { [ "$(column w1 STATE)" = ready ] && [ "$(column w1 PID)" != "$victim" ]; }
until_true 20 again || die "w1 was not started again"
"$dyn" top --once --json=workers >"$work/after.json"
"$work/accept" forgot "$work/after.json" w1
"$work/accept" talk "$(url)" c

say "the daemon is killed"
sleep 1.2
had=$(rows)
daemon=$("$dyn" ps --json=daemon | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
all=$(pids)
kill -9 "$daemon"
# shellcheck disable=SC2086
until_true 10 dead $daemon $all || die "something of the killed daemon still runs"
ok "nothing of it is left running"
[ "$(rows)" -ge "$had" ] || die "the ledger lost rows: $had before, $(rows) after"
ok "the ledger holds its $had rows"
up --workers 3
"$work/accept" talk "$(url)" d

real || skipped+=("a real model: make engines or dyn up tiny, then this runs it")
fresh
up --workers 3

say "down"
all=$(pids)
"$dyn" down
# shellcheck disable=SC2086
until_true 1 dead $all || die "dyn down left something running"
[ "$("$dyn" down)" = "not running" ] || die "a second dyn down is an error"

say "done"
for what in "${skipped[@]}"; do printf '!! SKIPPED: %s\n' "$what"; done
printf '1 passed, 0 failed, %d skipped\n' "${#skipped[@]}"
