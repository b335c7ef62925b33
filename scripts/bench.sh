#!/usr/bin/env bash
# Measures dyn and writes docs/bench.md.   scripts/bench.sh
#
# Two kinds of figures, all of one run on one machine: Go benchmarks of the
# rooms, and the whole program between a load generator and engines that answer
# at once. The latter need the load generator of BENCH_PEERS (default
# ../shared/tools/peers), and for the floor (a frontend without sessions,
# routing and ledger) the code of BENCH_SPIKE (default ../shared/prototypes).
# The peer, vllm-router, comes from PyPI. What is absent is left out, and said.
# Everything else lies in BENCH_WORK. Traffic stays on the loopback interface.
# Memory is filled by 10,000 distinct prompts and by 100,000. N is the number of requests of a
# TTFT row (default 200). Run it on a quiet machine, NICE=-10 as root helps.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
peers=$(realpath -m "${BENCH_PEERS:-$top/../shared/tools/peers}")
spike=$(realpath -m "${BENCH_SPIKE:-$top/../shared/prototypes}")
fixtures=$(realpath -m "${DYN_FIXTURES:-$top/../shared/fixtures}")
work=${BENCH_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-bench}
parts=${BENCH_PARTS:-startup ttft ttftq ttftf rps stream fill bad faults}
export CGO_CFLAGS=${CGO_CFLAGS:-"-O2 -g -Wno-deprecated-declarations"}
mkdir -p "$work"
[ -x ./dyn ] || make build

# The program's own folders, empty at each start.
cat >"$work/dyn.sh" <<EOF
#!/bin/bash
rm -rf "$work/xdg"
export XDG_CONFIG_HOME="$work/xdg/config" XDG_STATE_HOME="$work/xdg/state" XDG_CACHE_HOME="$work/xdg/cache"
exec "$top/dyn" up --foreground --port \$PORT --attach http://\$E1 --attach http://\$E2 --model-dir "$work/anchors/model"
EOF
chmod +x "$work/dyn.sh"

program() {
  if [ ! -d "$peers" ] || [ ! -d "$fixtures/tokenizers" ]; then
    echo "!! SKIPPED: the whole program: no $peers, or no $fixtures/tokenizers"
    return
  fi
  rm -rf "$work/peers" && cp -r "$peers" "$work/peers" && chmod -R u+w "$work/peers"
  sed -i 's#bin/mockengine" -addr \$E\([12]\)#bin/mockengine" -max-model-len 262144 -addr $E\1#g' "$work/peers/run.sh"
  rm -f "$work"/peers/results/*.jsonl
  export ANCHOR_WORK=$work/anchors FIXTURES=$fixtures
  "$work/peers/setup.sh" none >/dev/null
  "$work/anchors/bin/mockengine" -max-model-len 262144 -addr 127.0.0.1:19009 >/dev/null 2>&1 &
  until curl -sf http://127.0.0.1:19009/health; do sleep 0.1; done
  go run ./scripts/bench -ids 127.0.0.1:19009 -model "$work/anchors/model" >>"$work/small.jsonl" || true
  kill $! && wait $! || true
  # shellcheck disable=SC2086
  CUSTOM_CMD=$work/dyn.sh OUT=$work/peers/results/dyn.jsonl "$work/peers/run.sh" custom $parts >/dev/null
  FILL=100000 CUSTOM_CMD=$work/dyn.sh OUT=$work/peers/results/dyn.jsonl "$work/peers/run.sh" custom fill >/dev/null
  if [ -d "$spike/frontend" ]; then
    mkdir -p "$work/spike/own"
    cp go.sum "$work/spike/"
    sed 's#^module.*#module spike#' go.mod >"$work/spike/go.mod"
    for f in "$spike"/tokenizer/*.go.txt; do cp "$f" "$work/spike/own/$(basename "$f" .txt)"; done
    cp "$spike/frontend/main.go.txt" "$work/spike/main.go"
    (cd "$work/spike" && go build -o spike .)
    CUSTOM_CMD="$work/spike/spike \$PORT \$E1 $work/anchors/model/tokenizer.json" \
      OUT=$work/peers/results/spike.jsonl "$work/peers/run.sh" custom ttftq ttftf rps stream >/dev/null
  else
    echo "!! SKIPPED: the floor: no $spike/frontend"
  fi
  if "$work/peers/setup.sh" vllm >"$work/peer.log" 2>&1; then
    OUT=$work/peers/results/peer.jsonl "$work/peers/run.sh" vllm ttftq ttftf rps stream >>"$work/peer.log"
  else
    echo "!! SKIPPED: the peer: vllm-router cannot be installed, see $work/peer.log"
  fi
}

# What needs no load generator: start, idle cost, help, a client's FIN.
small() {
  printf '{"test":"small","note":"%s","value":%s}\n' "$1" "$2" >>"$work/small.jsonl"
}
alone() {
  local state=$work/alone best=1000000 t0 t1 pid a b
  rm -rf "$state" && mkdir -p "$state"
  export XDG_STATE_HOME=$state XDG_CONFIG_HOME=$state/c XDG_CACHE_HOME=$state/k
  for _ in $(seq 20); do
    t0=$(date +%s%N); ./dyn --help >/dev/null; t1=$(date +%s%N)
    [ $((t1 - t0)) -lt $best ] && best=$((t1 - t0))
  done
  small "dyn --help, best of 20, ms" "$(awk "BEGIN{print $best/1e6}")"
  t0=$(date +%s%N); ./dyn up sim --workers 3 --port 0 >/dev/null 2>&1; t1=$(date +%s%N)
  small "dyn up sim --workers 3, ms" "$(awk "BEGIN{print ($t1-$t0)/1e6}")"
  best=1000000000
  for _ in $(seq 20); do
    t0=$(date +%s%N)
    echo '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"ls"}}' | ./dyn hook PreToolUse
    t1=$(date +%s%N)
    [ $((t1 - t0)) -lt $best ] && best=$((t1 - t0))
  done
  small "dyn hook, best of 20 while its daemon runs, ms" "$(awk "BEGIN{print $best/1e6}")"
  pid=$(./dyn ps --json=daemon | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
  sleep 5
  a=$(awk '{print $14+$15}' "/proc/$pid/stat"); sleep 30; b=$(awk '{print $14+$15}' "/proc/$pid/stat")
  small "idle daemon, three workers, resident MiB" "$(awk '/VmRSS/{print $2/1024}' "/proc/$pid/status")"
  small "idle daemon, three workers, % of a core over 30 s" "$(awk "BEGIN{print ($b-$a)/$(getconf CLK_TCK)/30*100}")"
  ./dyn worker sim --write-model "$work/sim-model"
  ./dyn down >/dev/null
  go run ./scripts/bench -fin "$top/dyn" -model "$work/sim-model" >>"$work/small.jsonl"
}

rm -f "$work/small.jsonl"
(alone)
program
mkdir -p "$work/peers/results"
cat "$work/small.jsonl" >>"$work/peers/results/dyn.jsonl"
go test -run '^$' -bench . -benchtime "${BENCH_TIME:-1s}" -benchmem ./... >"$work/go.txt"
go run ./scripts/bench -results "$work/peers/results" -go "$work/go.txt" -peer "vllm-router 0.1.17, policy cache_aware" -commit "$(git rev-parse --short=12 HEAD)" >docs/bench.md
echo "docs/bench.md is written"
