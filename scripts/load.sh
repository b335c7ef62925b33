# For bash scripts that put the program between the load generator and the
# engines of BENCH_PEERS (default ../shared/tools/peers). To be sourced in the
# repository's top folder, with $work set to a folder for everything.
top=$PWD
peers=$(realpath -m "${BENCH_PEERS:-$top/../shared/tools/peers}")
fixtures=$(realpath -m "${DYN_FIXTURES:-$top/../shared/fixtures}")
export CGO_CFLAGS=${CGO_CFLAGS:-"-O2 -g -Wno-deprecated-declarations"}
mkdir -p "$work"

# load_absent says what is missing; it fails when nothing is.
load_absent() {
  [ -d "$peers" ] && [ -d "$fixtures/tokenizers" ] && return 1
  echo "no $peers, or no $fixtures/tokenizers"
}

# load_ready DYN copies the tools to $work/peers and writes $work/dyn.sh, which
# starts the program with folders of its own, empty at each start.
load_ready() {
  cat >"$work/dyn.sh" <<END
#!/bin/bash
rm -rf "$work/xdg"
export XDG_CONFIG_HOME="$work/xdg/config" XDG_STATE_HOME="$work/xdg/state" XDG_CACHE_HOME="$work/xdg/cache"
exec "$1" up --foreground --port \$PORT --attach http://\$E1 --attach http://\$E2 --model-dir "$work/anchors/model"
END
  chmod +x "$work/dyn.sh"
  rm -rf "$work/peers" && cp -r "$peers" "$work/peers" && chmod -R u+w "$work/peers"
  sed -i 's#bin/mockengine" -addr \$E\([12]\)#bin/mockengine" -max-model-len 262144 -addr $E\1#g' "$work/peers/run.sh"
  rm -f "$work"/peers/results/*.jsonl
  export ANCHOR_WORK=$work/anchors FIXTURES=$fixtures
  "$work/peers/setup.sh" none >/dev/null
}
