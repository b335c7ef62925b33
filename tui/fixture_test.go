package tui

import (
	"fmt"
	"math"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// noon is when all pictures of these tests are taken.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func share(f float64) *float64 { return &f }

func before(s float64) time.Time { return noon.Add(-time.Duration(s * float64(time.Second))) }

// serving is one worker that serves.
func serving(name string, run, wait int, kv, overlap, hit, p50, p95, tps float64) snapshot.Worker {
	drift := overlap - hit
	return snapshot.Worker{
		Name: name, Model: "sim", PID: 4121, URL: "http://127.0.0.1:8101", Engine: "vllm 0.32.0",
		State: "ready", Since: before(11045), GPUs: []int{}, Index: "events",
		Running: run, Waiting: wait, InFlight: run + wait, LoadAt: before(0.4), Slots: 256, WindowS: 60,
		Decided: 40, Prompt: 1_200_000, Predicted: int(overlap * 1_200_000), Overlap: share(overlap),
		Reported: int(hit * 1_200_000), Hit: share(hit), Drift: &drift,
		TTFT: snapshot.Quantiles{N: 40, P50: p50, P95: p95}, TPS: tps, KVUsed: kv,
	}
}

// agent is one line of turns.
func agent(id, parent, state, worker string, context, turns int, overlap, ttft, lease, last float64) snapshot.Agent {
	return snapshot.Agent{
		ID: id, Parent: parent, State: state, Worker: worker, Context: context, Overlap: share(overlap),
		Hit: share(overlap - 0.01), Turns: turns, TTFTMS: ttft, LeaseS: lease, LastSeen: before(last),
	}
}

// busy is a daemon at work, as in the sketch of the design.
func busy() snapshot.Snapshot {
	s := snapshot.Snapshot{V: 1, At: noon}
	s.Daemon = snapshot.Daemon{PID: 4000, Version: "0.1", URL: "http://127.0.0.1:8080", Started: before(273_600), State: "ready"}
	s.Models = []snapshot.Model{{ID: "qwen3-coder-next", Context: 262144, Workers: 4, Ready: 4, Path: "tokens"}}
	s.Workers = []snapshot.Worker{
		serving("w0", 14, 0, 0.92, 0.94, 0.96, 210, 880, 3400),
		serving("w1", 11, 0, 0.74, 0.91, 0.942, 240, 1100, 3100),
		serving("w2", 19, 6, 0.99, 0.88, 0.917, 620, 4200, 4000),
		serving("w3", 3, 0, 0.22, 0.42, 0.125, 1900, 6000, 1900),
	}
	s.Workers[3].State = "draining"
	s.Workers[2].Thrash, s.Workers[2].AgeS = true, share(4.2)
	s.Queue = snapshot.Queue{
		Depth: 40, Waiting: 31, Prefill: 9, OldestMS: 12_400, Held: 4, HeldMS: 1_200, Canceled: 3,
		Bands: []snapshot.Band{
			{Class: "P0", Waiting: 2, Prefill: 1, OldestMS: 90},
			{Class: "P1", Waiting: 7, Prefill: 5, OldestMS: 640},
			{Class: "P2", Waiting: 22, Prefill: 3, OldestMS: 12_400},
		},
	}
	lease := func(session, agent, state string, tokens, held int, ttl, left float64) snapshot.Lease {
		return snapshot.Lease{
			ID: session + agent, Session: session, Agent: agent, Model: "sim", Worker: "w0", Tokens: tokens,
			Blocks: tokens / 16, TTLS: ttl, LeftS: left, Ends: noon.Add(time.Duration(left * 1e9)), State: state, Held: held, Found: -1, Source: "cache_control",
		}
	}
	s.Leases = snapshot.Leases{Asked: 220, Renewed: 214, Expired: 2, Kept: 196, Lost: 4, Cut: 3, GaveWay: 1, States: map[string]int{"asked": 1, "kept": 1, "cut": 1, "lost": 1}, Live: []snapshot.Lease{
		lease("a1f3", "main", "kept", 142_336, 142_336, 300, 252), lease("77c0", "main", "cut", 88_064, 30_720, 300, 160),
		lease("e920", "main", "asked", 61_440, 61_440, 300, 19), lease("a1f3", "explore-1", "lost", 41_216, 41_216, 3600, 3480),
	}}
	s.Tiers = []snapshot.Tier{
		{Name: "gpu", Used: 1_152_000, Cached: 1_450_000, Capacity: 1_600_000},
		{Name: "host", Used: 0, Cached: 2_624_000, Capacity: 6_400_000},
		{Name: "disk", Used: 0, Cached: -1, Capacity: 0},
	}
	s.Sessions = busySessions()
	s.Latency = snapshot.Latency{
		WindowS: 300, HistoryS: 5,
		TTFT: snapshot.Quantiles{N: 512, P50: 240, P95: 1800}, ITL: snapshot.Quantiles{N: 81_000, P50: 14, P95: 38},
	}
	for i := range 60 {
		x := float64(i)
		s.Latency.History = append(s.Latency.History, snapshot.Point{
			TTFTP50: 240 + 900*math.Exp(-(x-30)*(x-30)/18), Hit: 0.93 - 0.4*math.Exp(-(x-32)*(x-32)/10),
		})
	}
	s.Latency.History[7] = snapshot.Point{TTFTP50: -1, Hit: -1}
	s.Totals = snapshot.Totals{
		Context: 463_000, Gone: 60_000,
		Turns: 48_211, Failed: 2, Prompt: 9_012_000_000, Cached: 8_390_000_000, Output: 61_000_000,
		Hit: share(0.931), RPS: 41, TPS: 12_400, Moved: 1,
	}
	s.Ledger = snapshot.Ledger{OK: true}
	return s
}

// busySessions are the sessions of busy.
func busySessions() []snapshot.Session {
	all := []snapshot.Session{
		{ID: "a1f3", Harness: "claude-code", Model: "sim", LastSeen: before(3), Agents: []snapshot.Agent{
			agent("main", "", "waiting", "w0", 142_000, 61, 0.97, 190, 252, 3),
			agent("explore-1", "main", "streaming", "w0", 38_000, 9, 0.91, 310, 3480, 0),
			agent("explore-2", "main", "prefill", "w2", 55_000, 4, 0.44, -1, -1, 0),
			agent("test-run", "explore-1", "done", "w0", 21_000, 12, 0.93, 240, -1, 64),
		}},
		{ID: "77c0", Harness: "codex", Model: "sim", LastSeen: before(0), Agents: []snapshot.Agent{
			agent("main", "", "streaming", "w1", 88_000, 23, 0.94, 260, 160, 0),
		}},
		{ID: "0b77", Harness: "claude-code", Model: "sim", LastSeen: before(6), Agents: []snapshot.Agent{
			agent("main", "", "tool", "w3", 119_000, 33, 0.62, 5800, -1, 6),
		}},
	}
	all[2].Agents[0].Hit, all[2].Agents[0].Tool = share(0.02), "Bash"
	return all
}

// idle is a daemon that has only just started.
func idle() snapshot.Snapshot {
	s := snapshot.Snapshot{V: 1, At: noon}
	s.Daemon = snapshot.Daemon{PID: 4000, URL: "http://127.0.0.1:8080", Started: before(2), State: "ready"}
	s.Models = []snapshot.Model{{ID: "sim", Context: 262144, Workers: 1, Ready: 1, Path: "tokens"}}
	s.Workers = []snapshot.Worker{{
		Name: "w0", Model: "sim", State: "ready", Since: before(1), Index: "events", PID: 4001, WindowS: 60,
		TTFT: snapshot.Quantiles{P50: -1, P95: -1}, LoadAt: before(0.2),
	}}
	s.Tiers = []snapshot.Tier{{Name: "gpu", Used: 0, Cached: 0, Capacity: 400_000}}
	s.Latency = snapshot.Latency{
		WindowS: 300, HistoryS: 5,
		TTFT: snapshot.Quantiles{P50: -1, P95: -1}, ITL: snapshot.Quantiles{P50: -1, P95: -1},
	}
	s.Ledger = snapshot.Ledger{OK: true}
	return s
}

// down is busy with all that can be wrong.
func down() snapshot.Snapshot {
	s := busy()
	s.Daemon.State = "degraded"
	s.Models[0].Path, s.Models[0].Why = "chat", "its template differs from the engine's at token 12"
	s.Workers[1].State, s.Workers[1].Why = "down", "connection refused"
	s.Workers[1].Since, s.Workers[1].Restarts = before(41), 3
	s.Workers[2].State, s.Workers[2].Why, s.Workers[2].Since = "starting", "loading weights", before(12)
	s.Workers[0].LoadAt = before(12)
	s.Ledger = snapshot.Ledger{OK: false, Lost: 1204, Why: "write ledger.db: database or disk is full"}
	s.Totals.Orphans = 17
	return s
}

// wide has names of wide and of joined characters.
func wide() snapshot.Snapshot {
	s := busy()
	s.Models[0].ID = "通義千問三號編程模型"
	s.Workers[0].Name = "東京第一号機械装置"
	s.Workers[1].Name = "w\u00e9\u0301\u0301\u0301\u0301rker"
	s.Sessions[0].ID = "会話セッション番号一"
	s.Sessions[0].Harness = "क्लॉड कोड"
	s.Sessions[0].Agents[1].ID = "👩‍👩‍👧‍👦 explore 🇩🇪 👍🏽 한국어 설명 조사"
	s.Leases.Live[0].Session = "会話セッション番号一"
	return s
}

// hostile has names that would like to own the terminal.
func hostile() snapshot.Snapshot {
	s := busy()
	s.Models[0].ID = "m\x1b]0;owned\x07"
	s.Workers[0].Name = "\x1b[2J\x1b[H\x1b[31m"
	s.Workers[1].State, s.Workers[1].Why = "down", "line\nbreak\r\x1b[1A\ttab\x00nul"
	s.Workers[2].Name = "\u202Eright\u2066to left\u200b\ufeff"
	s.Workers[3].State = "\x9b31mstate"
	s.Sessions[0].ID = string([]byte{0xff, 0xfe, 'a', 0xc3}) + "\xed\xa0\x80"
	s.Sessions[0].Harness = "\x1bP1$r\x1b\\"
	s.Sessions[0].Agents[1].ID = fmt.Sprintf("%0900d", 7)
	s.Sessions[0].Agents[2].State = "\x1b[?1049l"
	s.Sessions[0].Agents[3].Parent = "test-run" // its own
	s.Leases.Live[0].Session = "\u0301\u0301\u0301\u0301"
	s.Tiers[0].Name = "g\npu"
	s.Queue.Bands[0].Class = "P0\x1b[5m"
	s.Ledger.Why = "\x1b[7mwhy\u2028\u2029"
	s.Totals.RPS, s.Totals.TPS = math.NaN(), math.Inf(1)
	s.Workers[0].KVUsed, s.Workers[3].KVUsed = math.NaN(), -3
	s.Tiers[0].Used = math.MaxInt
	s.Latency.History[3].TTFTP50 = math.Inf(1)
	return s
}

// many is a fleet with long lists.
func many() snapshot.Snapshot {
	s := busy()
	w, x := s.Workers, s.Sessions
	s.Workers, s.Sessions = nil, nil
	for i := range 40 {
		c := w[i%3]
		c.Name, c.GPUs = fmt.Sprintf("worker-in-rack-%d", i), []int{i % 8}
		s.Workers = append(s.Workers, c)
		e := x[i%3]
		e.ID = fmt.Sprintf("%08x-0000-4000-8000-%012d", i*7919, i)
		s.Sessions = append(s.Sessions, e)
	}
	s.Queue.Bands = append(s.Queue.Bands, snapshot.Band{Strict: 5, Class: "P1", Waiting: 3, OldestMS: 2})
	s.Models = append(s.Models, snapshot.Model{ID: "glm-5", Path: "tokens"})
	return s
}
