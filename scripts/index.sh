#!/usr/bin/env bash
# Measures the index of blocks and writes docs/index.md.   scripts/index.sh
#
# The bars are Go benchmarks of cache. Beside it stand the indexes of the crate
# dynamo-kv-router, by the program kvindex-rs of BENCH_PEERS (default
# ../shared/tools/peers), on the same keys: cargo builds it. What is absent is
# left out, and said. ROUNDS (default 3) of all, of which the page has medians;
# LG is the log2 of how many blocks (default 22). Run it on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=$(realpath -m "${BENCH_PEERS:-$PWD/../shared/tools/peers}")
work=${BENCH_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-bench}/index
lg=${LG:-22}
mkdir -p "$work"
go build -o "$work/index" ./scripts/index
go test -c -o "$work/cache.test" ./cache

peer="" name=""
if ! command -v cargo >/dev/null; then
  echo "!! SKIPPED: the peer's indexes: no cargo"
elif [ ! -d "$peers/kvindex-rs" ]; then
  echo "!! SKIPPED: the peer's indexes: no $peers/kvindex-rs"
else
  cp -r "$peers/kvindex-rs" "$work/" && chmod -R u+w "$work/kvindex-rs" # its Cargo.lock stays: what was resolved once is not looked up again
  if (cd "$work/kvindex-rs" && CARGO_TARGET_DIR=$work/target cargo build --release -q) >"$work/peer.log" 2>&1; then
    peer=$work/target/release/kvbench
    name="The indexes of the crate dynamo-kv-router $(sed -n 's/^dynamo-kv-router *= *"=\{0,1\}\([^"]*\)".*/\1/p' "$work/kvindex-rs/Cargo.toml")"
  else
    echo "!! SKIPPED: the peer's indexes: they cannot be built, see $work/peer.log"
  fi
fi

bench() { (cd cache && "$work/cache.test" -test.run '^$' -test.benchtime "$1" -test.bench "^Benchmark($2)\$") >>"$work/go.txt"; }

: >"$work/lines.jsonl"
: >"$work/go.txt"
for round in $(seq "${ROUNDS:-3}"); do
  echo "round $round"
  for case in 1:2048 1:16 8:2048; do
    "$work/index" -run "$lg:$case" >>"$work/lines.jsonl"
    for index in crtc pos; do
      [ -z "$peer" ] || "$peer" $index "$lg" ${case%:*} ${case#*:} >>"$work/lines.jsonl"
    done
  done
  bench "${BENCH_TIME:-1s}" Overlap
  bench 1x 'Stored|StoredTokens|ThousandWorkers|Bytes|OwnNames'
  bench 3x WhileStoring
done
"$work/index" -lines "$work/lines.jsonl" -go "$work/go.txt" -peer "$name" -commit "$(git rev-parse --short=12 HEAD)" >docs/index.md
echo "docs/index.md is written"
