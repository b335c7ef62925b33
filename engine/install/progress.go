package install

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Progress is how far something is. Counts are what uv, pip or the file say;
// 0 is not known.
type Progress struct {
	Stage      string // environment, packages, libraries, files, check, probe
	Packages   int
	OfPackages int
	Bytes      int64
	OfBytes    int64
}

// String is the counts in words, "" when there are none.
func (p Progress) String() string {
	var parts []string
	switch {
	case p.OfPackages > 0 && p.Packages > 0:
		parts = append(parts, fmt.Sprintf("%d of %d packages", p.Packages, p.OfPackages))
	case p.OfPackages == 1:
		parts = append(parts, "1 package")
	case p.OfPackages > 0:
		parts = append(parts, fmt.Sprintf("%d packages", p.OfPackages))
	}
	if p.OfBytes > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", size(p.Bytes), size(p.OfBytes)))
	}
	return strings.Join(parts, ", ")
}

// meter reads progress from the lines that uv and pip print when they do not
// write to a terminal. uv tells of the larger packages only, and of each twice;
// pip tells when it begins with one.
type meter struct {
	now   Progress
	all   int              // packages that are asked for; 0 is not known
	about int64            // bytes that they have
	told  int64            // bytes of those that were begun with
	open  map[string]int64 // bytes that uv is fetching, by package
	last  int64            // bytes that pip is fetching
	begun int              // packages that pip began with
}

var (
	uvResolved = regexp.MustCompile(`^Resolved (\d+) packages?`)
	uvBegins   = regexp.MustCompile(`^Downloading (\S+) \(([0-9.]+ ?[kKMG]?i?B)\)`)
	uvEnds     = regexp.MustCompile(`^ ?Downloaded (\S+)`)
	uvReady    = regexp.MustCompile(`^(?:Prepared|Installed) (\d+) packages?`)
	pipCollect = regexp.MustCompile(`^Collecting `)
	pipBegins  = regexp.MustCompile(`^\s+Downloading \S+ \(([0-9.]+ ?[kKMG]?i?B)\)`)
	pipHas     = regexp.MustCompile(`^\s+Using cached `)
	pipReady   = regexp.MustCompile(`^(?:Installing collected|Successfully installed)`)
)

// line takes one line, and reports whether the progress is another now.
func (m *meter) line(s string) bool {
	switch {
	case uvResolved.MatchString(s):
		m.now.OfPackages = number(uvResolved.FindStringSubmatch(s)[1])
	case uvBegins.MatchString(s):
		found := uvBegins.FindStringSubmatch(s)
		if m.open == nil {
			m.open = map[string]int64{}
		}
		n := parseSize(found[2])
		m.open[found[1]] += n
		m.begin(n)
	case uvEnds.MatchString(s):
		name := uvEnds.FindStringSubmatch(s)[1]
		m.now.Bytes += m.open[name]
		delete(m.open, name)
	case uvReady.MatchString(s):
		m.now.Packages = number(uvReady.FindStringSubmatch(s)[1])
		m.now.Bytes, m.now.OfBytes = m.told, m.told
	case pipCollect.MatchString(s):
		m.arrived()
		m.begun++
		m.now.Packages, m.now.OfPackages = m.begun-1, max(m.all, m.begun)
	case pipBegins.MatchString(s):
		m.arrived()
		m.last = parseSize(pipBegins.FindStringSubmatch(s)[1])
		m.begin(m.last)
	case pipHas.MatchString(s):
		m.arrived()
	case pipReady.MatchString(s):
		m.arrived()
		m.now.Packages, m.now.OfPackages = m.begun, m.begun
		m.now.OfBytes = m.told
	default:
		return false
	}
	return true
}

// begin counts bytes that will come.
func (m *meter) begin(n int64) {
	m.told += n
	m.now.OfBytes = max(m.about, m.told)
}

// arrived counts what pip was fetching: it goes on only when it has it.
func (m *meter) arrived() {
	m.now.Bytes += m.last
	m.last = 0
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the pattern has digits only
	return n
}

// parseSize reads 64.6MiB, 92.9 MB, 512 kB. What it cannot read is 0.
func parseSize(s string) int64 {
	s = strings.ReplaceAll(s, " ", "")
	at := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if at < 0 {
		return 0
	}
	x, err := strconv.ParseFloat(s[:at], 64)
	if err != nil {
		return 0
	}
	each := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[s[at:]]
	return int64(x * each)
}
