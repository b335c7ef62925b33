#!/usr/bin/env bash
# Real coding agents and the vendors' SDKs against dyn with a simulated model.
#   scripts/clients.sh                        all of them; writes docs/clients.md
#   scripts/clients.sh CLIENT[:CASE,…] …      these only; writes nothing
#   scripts/clients.sh sdk                    the SDKs only; writes nothing
#   scripts/clients.sh families               ten families of models; writes docs/families.md
# Clients: claude codex opencode qwen cline pi. Cases: once loop agents resume
# compact fault cut cancel; launched for claude and codex, hooks and ten for claude.
#
# Agents and SDKs come from the npm registry and PyPI, at the versions of
# scripts/clients/package.json and scripts/sdk, into CLIENTS_CACHE (2 GB for
# all). They run where only the loopback interface exists, and with a HOME of
# their own each. What cannot be installed is skipped, and said. CLIENTS_KEEP is
# a folder that keeps what the cells wrote, exchanges included.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
cache=${CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dyn-clients}
export CGO_CFLAGS=${CGO_CFLAGS:-"-O2 -g -Wno-deprecated-declarations"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=$work/results.jsonl
touch "$results"
failed=0

skip() { printf '!! SKIPPED: %s\n' "$1"; }

# apart COMMAND… runs it where only loopback exists, and ends what it leaves.
apart() {
  unshare --net --pid --fork --kill-child --mount-proc bash -c 'ip link set lo up && exec "$@"' _ "$@"
}

# wanted prints the npm packages of clients, with their versions.
wanted() {
  node -e '
    const pins = require("./scripts/clients/package.json").dependencies
    const of = { claude: "@anthropic-ai/claude-code", codex: "@openai/codex", opencode: "opencode-ai",
      qwen: "@qwen-code/qwen-code", cline: "cline", pi: "@earendil-works/pi-coding-agent" }
    const names = process.argv.slice(1).map(c => of[c.split(":")[0]]).filter(Boolean)
    if (names.some(n => n === of.cline || n === of.pi)) names.push("node")
    for (const n of new Set(names)) {
      let have = ""
      try { have = JSON.parse(require("fs").readFileSync(process.env.cache + "/node_modules/" + n + "/package.json")).version } catch {}
      if (have !== pins[n] && !have.startsWith(pins[n] + ".")) console.log(n + "@" + pins[n])
    }' "$@"
}

# install brings what is missing; one package that cannot be had does not keep
# the others away.
install() {
  local need one
  mkdir -p "$cache"
  [ -e "$cache/package.json" ] || echo '{"private":true}' >"$cache/package.json"
  mapfile -t need < <(cache=$cache wanted "$@")
  [ ${#need[@]} -gt 0 ] || return 0
  echo "npm brings ${need[*]}"
  npm_install "${need[@]}" && return 0
  for one in "${need[@]}"; do
    npm_install "$one" || skip "npm cannot install $one: $(tail -1 "$work/npm.txt")"
  done
}
npm_install() {
  timeout 600 npm install --prefix "$cache" --no-audit --no-fund --loglevel=error "$@" >"$work/npm.txt" 2>&1
}

[ -x "$top/dyn" ] || make build
if ! command -v npm >/dev/null; then
  skip "clients and SDKs: no npm"
  exit 0
fi
if ! command -v ip >/dev/null || ! apart true 2>/dev/null; then
  skip "clients and SDKs: no network namespace can be made here (needs root and iproute2)"
  exit 0
fi

agents=() sdk=0 doc=""
if [ "$*" = families ]; then
  doc=families
  set -- claude:families codex:families
elif [ $# -eq 0 ]; then
  doc=clients
  agents=(claude codex opencode qwen cline pi) sdk=1
fi
for arg in "$@"; do
  if [ "$arg" = sdk ]; then sdk=1; else agents+=("$arg"); fi
done

if [ ${#agents[@]} -gt 0 ]; then
  install "${agents[@]}"
  go build -o "$work/clients" ./scripts/clients
  more=()
  [ -z "${CLIENTS_KEEP:-}" ] || more=(-keep "$CLIENTS_KEEP")
  apart "$work/clients" -dyn "$top/dyn" -dir "$cache" -results "$results" "${more[@]}" "${agents[@]}" || failed=1
fi
if [ $sdk -eq 1 ]; then
  RESULTS=$results CACHE=$cache/sdk scripts/sdk/run.sh || failed=1
fi
if [ -n "$doc" ]; then
  "$work/clients" -table "make $doc" -commit "$(git describe --always --dirty --abbrev=12)" -date "$(date -u +%F)" <"$results" >"$work/$doc.md"
  cp "$work/$doc.md" "docs/$doc.md"
  echo "docs/$doc.md is written"
fi
exit $failed
