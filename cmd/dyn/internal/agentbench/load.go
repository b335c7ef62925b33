package agentbench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Load is what the agents of one round do. It is a value; two of the same
// fields say the same texts with the same pauses.
type Load struct {
	Sessions int
	Turns    int              // of each session
	Prefix   int              // tokens that all sessions share
	Step     int              // new tokens of a turn: the task, then what a tool gave back
	Output   int              // tokens of an answer
	Pause    [2]time.Duration // least and most between an answer and the next turn
	Words    float64          // words that make a token; 0 is one
	Seed     uint64           // of lengths, pauses and texts
	Round    int              // of the same load; each has texts of its own
	Mark     string           // the first words of the prefix, so that no round finds another's
}

// Context is how many tokens the longest prompt and its answer may take.
func (l Load) Context() int {
	return l.Prefix + l.Turns*(l.Step*3/2+l.Output+chrome)
}

// chrome is what a template puts around a message, with room to spare.
const chrome = 32

// Lasts is about how long a round takes when answers come at once.
func (l Load) Lasts() time.Duration {
	mean := (l.Pause[0] + l.Pause[1]) / 2
	return time.Duration(l.Turns) * mean // the stagger is one of them
}

// draw is the chance of one session, or with -1 of what all share.
func (l Load) draw(session int) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, uint64(l.Round)<<32|uint64(uint32(session))))
}

// System is the text that all sessions share.
func (l Load) System() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Workspace %s. You are an agent that works in steps. In each step write a thought, then one action; the answer to an action comes as an observation.\n", l.Mark)
	each := l.words(l.Prefix) / (len(tools) + 1)
	r := l.draw(-1)
	for _, tool := range tools {
		fmt.Fprintf(&b, "\n## Tool %s\n", tool)
		prose(&b, r, each)
	}
	b.WriteString("\n## Rules of this workspace\n")
	prose(&b, r, each)
	return b.String()
}

// tools are the four that every agent has.
var tools = []string{"read_file", "edit_file", "run_command", "search"}

// words is how many words make so many tokens.
func (l Load) words(tokens int) int {
	per := l.Words
	if per <= 0 {
		per = 1
	}
	return int(float64(tokens)*per + 0.5)
}

// Script is what one session does.
type Script struct {
	Start  time.Duration // after the round's
	Says   []string      // one for each turn: the task, then the observations
	Pauses []time.Duration
}

// Script is the script of a session. Starts are spread over one pause, lengths
// vary by a half either way.
func (l Load) Script(session int) Script {
	r := l.draw(session)
	s := Script{Start: time.Duration(r.Float64() * float64((l.Pause[0]+l.Pause[1])/2))}
	for turn := range l.Turns {
		var b strings.Builder
		if turn == 0 {
			fmt.Fprintf(&b, "Task %d: ", session)
		} else {
			b.WriteString("Observation: ")
		}
		prose(&b, r, l.words(l.Step/2+r.IntN(max(l.Step, 1))))
		s.Says = append(s.Says, b.String())
		s.Pauses = append(s.Pauses, l.Pause[0]+time.Duration(r.Float64()*float64(l.Pause[1]-l.Pause[0])))
	}
	return s
}

// prose writes words.
func prose(b *strings.Builder, r *rand.Rand, words int) {
	for i := range words {
		w := lexicon[r.IntN(len(lexicon))]
		switch {
		case i == 0:
		case i%14 == 0:
			b.WriteString(".\n")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	if words > 0 {
		b.WriteString(".\n")
	}
}

// lexicon is made of words that most tokenizers have as one token.
var lexicon = strings.Fields(`the file path line test code build name type value list key map error return
 call read write open close start stop run time data text user page set get add new old first last next part
 work change check find move copy send load save state order group point table index cache block queue route
 model token prompt answer worker session turn step plan fix note issue branch merge commit review report log`)
