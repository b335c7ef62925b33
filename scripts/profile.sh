#!/usr/bin/env bash
# Writes the profile that `make build` is compiled for: cmd/dyn/turns.pgo.
#
# The program runs under the load of `make bench`: first and next turns of 2k
# to 60k tokens one by one, short turns from many clients, paced streams. Needs
# the tools of BENCH_PEERS (see scripts/load.sh) and takes some minutes; the
# rest lies in BENCH_WORK. Why there is a profile: docs/decisions/019.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${BENCH_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-profile}
# shellcheck source=scripts/load.sh
. scripts/load.sh
if load_absent; then exit 1; fi

# The program profiles itself with a file that only this build sees: from its
# start until it is told to end.
hook() {
  cat <<'END'
package main

import (
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"syscall"
)

func init() {
	path := os.Getenv("DYN_CPUPROFILE")
	if path == "" {
		return
	}
	f, err := os.Create(path + "." + strconv.Itoa(os.Getpid()))
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		pprof.StopCPUProfile()
		f.Close()
	}()
}
END
}
hook >"$work/hook.go"
printf '{"Replace":{"%s":"%s"}}\n' "$top/cmd/dyn/hook.go" "$work/hook.go" >"$work/overlay.json"
# Without a profile: what was inlined for the last one is hot in its callers.
go build -trimpath -pgo=off -overlay "$work/overlay.json" -o "$work/dyn" ./cmd/dyn

load_ready "$work/dyn"
rm -f "$work"/cpu.*
DYN_CPUPROFILE=$work/cpu N=${N:-200} REP="1 2" RPSN=${RPSN:-3000} CUSTOM_CMD=$work/dyn.sh \
  OUT=$work/peers/results/dyn.jsonl "$work/peers/run.sh" custom ttftq rps stream
go tool pprof -proto -symbolize=none -output "$work/all.pb.gz" "$work"/cpu.* >/dev/null
go run ./scripts/profile <"$work/all.pb.gz" >"$work/turns.pgo"
mv "$work/turns.pgo" cmd/dyn/turns.pgo
echo "cmd/dyn/turns.pgo is written, $(stat -c %s cmd/dyn/turns.pgo) bytes"
