#!/usr/bin/env bash
# Measures dyn and writes docs/bench.md.   scripts/bench.sh
#
# Two kinds of figures, all of one run on one machine: Go benchmarks of the
# rooms, and the whole program between a load generator and engines that answer
# at once. The latter need the load generator of BENCH_PEERS (default
# ../shared/tools/peers), and for the floor (a frontend without sessions,
# routing and ledger) the code of BENCH_SPIKE (default ../shared/prototypes);
# what is absent is left out, and said. Everything else lies in BENCH_WORK.
# Traffic stays on the loopback interface. N is the number of requests of a
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
  CUSTOM_CMD=$work/dyn.sh OUT=$work/peers/results/dyn.jsonl "$work/peers/run.sh" custom $parts >/dev/null
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
}

program
go test -run '^$' -bench . -benchtime "${BENCH_TIME:-1s}" -benchmem ./... >"$work/go.txt"
go run ./scripts/bench -results "$work/peers/results" -go "$work/go.txt" -commit "$(git rev-parse --short=12 HEAD)" >docs/bench.md
echo "docs/bench.md is written"
