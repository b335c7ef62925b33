#!/bin/sh
# Sends broken requests made from recorded ones: through the decoders alone,
# and end to end to a server over a simulated engine. `make test` does a few
# thousand of them with a fixed seed. The seed is printed; with the same one
# the same requests come again.
#
#	DYN_FUZZ_DECODE  requests for the decoders, a million if not set
#	DYN_FUZZ_SERVE   requests for the server, 20,000 if not set
#	DYN_FUZZ_SEED    a number; the time if not set
set -eu
cd "$(dirname "$0")/.."
export DYN_FUZZ_DECODE="${DYN_FUZZ_DECODE:-1000000}"
export DYN_FUZZ_SERVE="${DYN_FUZZ_SERVE:-20000}"
export DYN_FUZZ_SEED="${DYN_FUZZ_SEED:-$(date +%s)}"
echo "DYN_FUZZ_SEED=$DYN_FUZZ_SEED"
exec go test ./server -run '^TestMutated' -count=1 -timeout 3h -v
