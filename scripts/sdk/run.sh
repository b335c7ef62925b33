#!/usr/bin/env bash
# The vendors' SDKs against one daemon with a simulated model.   scripts/sdk/run.sh
# CACHE is where the libraries are installed (default ~/.cache/dyn-clients/sdk);
# RESULTS is a file that gets one line of JSON for each case. The daemon and the
# libraries run where only the loopback interface exists. What cannot be
# installed is skipped, and said.
set -euo pipefail
cd "$(dirname "$0")/../.."
export dyn=$PWD/dyn here=$PWD/scripts/sdk
export cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-clients/sdk}
[ -x "$dyn" ] || make build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work
mkdir -p "$cache"

skip() { printf '!! SKIPPED: %s\n' "$1"; }
fresh() { cmp -s "$1" "$2"; } # what is installed is what is wanted

python=1 node=1
if ! fresh "$here/requirements.txt" "$cache/requirements.txt"; then
  if python3 -m venv --clear "$cache/venv" >"$work/venv.txt" 2>&1 &&
    timeout 600 "$cache/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" >"$work/venv.txt" 2>&1; then
    cp "$here/requirements.txt" "$cache/"
  else
    skip "SDKs for Python: pip cannot install them: $(tail -1 "$work/venv.txt")"
    python=0
  fi
fi
if ! command -v npm >/dev/null; then
  skip "SDKs for Node: no npm"
  node=0
elif ! fresh "$here/package.json" "$cache/wanted.json"; then
  cp "$here/package.json" "$cache/package.json"
  if timeout 600 npm install --prefix "$cache" --no-audit --no-fund --loglevel=error >"$work/npm.txt" 2>&1; then
    cp "$here/package.json" "$cache/wanted.json"
  else
    skip "SDKs for Node: npm cannot install them: $(tail -1 "$work/npm.txt")"
    node=0
  fi
fi
cp "$here"/*.mjs "$cache/" # beside node_modules, where they look for it
export python node

# everything runs where only loopback exists: one daemon, five programs.
everything() {
  local failed=0 program
  export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache PYTHONDONTWRITEBYTECODE=1
  "$dyn" up sim --port 0 --speed 0 --max-model-len 32768 --brain "$here/brain.yaml" >/dev/null
  DYN_URL=$("$dyn" ps --json=daemon | sed -n 's/.*"url": "\(.*\)".*/\1/p')
  export DYN_URL
  if [ "$python" -eq 1 ]; then
    for program in anthropic_sdk openai_sdk; do
      timeout 300 "$cache/venv/bin/python" "$here/$program.py" </dev/null || failed=1
    done
  fi
  if [ "$node" -eq 1 ]; then
    for program in anthropic openai vercel; do
      timeout 300 node "$cache/$program.mjs" </dev/null || failed=1
    done
  fi
  "$dyn" down --now >/dev/null
  return $failed
}
export -f everything
unshare --net --pid --fork --kill-child --mount-proc bash -euo pipefail -c 'ip link set lo up && everything'
