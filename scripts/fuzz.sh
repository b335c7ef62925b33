#!/bin/sh
# Sends broken requests made from recorded ones: through the decoders alone,
# and end to end to a server over a simulated engine; then runs every fuzz
# target there is for a while. `make test` does a few thousand requests with a
# fixed seed, and the targets' own examples. The seed is printed; with the same
# one the same requests come again. What a target finds stays in its package's
# testdata/fuzz and fails `make test` until it is mended.
#
#	DYN_FUZZ_DECODE  requests for the decoders, a million if not set
#	DYN_FUZZ_SERVE   requests for the server, 20,000 if not set
#	DYN_FUZZ_SEED    a number; the time if not set
#	DYN_FUZZ_TIME    for each target, 20s if not set; 0 leaves them out
set -eu
cd "$(dirname "$0")/.."
export CGO_CFLAGS="${CGO_CFLAGS:--O2 -g -Wno-deprecated-declarations}"
export DYN_FUZZ_DECODE="${DYN_FUZZ_DECODE:-1000000}"
export DYN_FUZZ_SERVE="${DYN_FUZZ_SERVE:-20000}"
export DYN_FUZZ_SEED="${DYN_FUZZ_SEED:-$(date +%s)}"
each="${DYN_FUZZ_TIME:-20s}"
failed=""

echo "DYN_FUZZ_SEED=$DYN_FUZZ_SEED"
go test ./server -run '^TestMutated' -count=1 -timeout 3h -v || failed=" TestMutated"

# targets prints each fuzz target of the house with its folder.
targets() {
	grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(' . |
		sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort
}
if [ "$each" != 0 ]; then
	list=$(targets)
	echo "$(echo "$list" | wc -l) fuzz targets, $each each"
	while read -r folder name; do
		echo "$folder $name"
		go test "$folder" -run '^$' -fuzz "^$name\$" -fuzztime "$each" -fuzzminimizetime 5s </dev/null ||
			failed="$failed $folder:$name"
	done <<-END
		$list
	END
fi
[ -z "$failed" ] || { echo "found something:$failed"; exit 1; }
