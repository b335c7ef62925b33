package secret

import (
	"regexp"
	"slices"
	"strings"
)

// Dots stand in place of a secret.
const Dots = "…"

// named is a secret behind its name: the name, what joins it to the value, and
// the value. Words of languages for nothing are none.
var named = regexp.MustCompile(`(?i)((?:api[-_ ]?key|authorization|(?:hf|hub|access|auth|bearer|refresh)[-_]token|secret(?:[-_]access)?[-_]key|passw(?:or)?d)s?` +
	`["']?(?:[ \t]*[=:][ \t]*|[ \t]+)[\["'(]*(?:bearer[ \t]+|basic[ \t]+)?)([^\s"'\[\](){},]{4,})`)

// formed is what is a secret by its form.
var formed = regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})|(?i:\bbearer[ \t]+)[A-Za-z0-9._~+/-]{8,}=*`)

// user is who a URL is fetched as, with a password: of an index of packages, or
// of a proxy.
var user = regexp.MustCompile(`(://)[^\s/@"'<>:]*:[^\s/@"'<>]+@`)

// nothings are values that tell nothing.
var nothings = []string{"none", "null", "true", "false"}

// Hide puts dots in place of the secrets in a text. known are those of which
// the value is known; short ones are left out, since they would hit words.
func Hide(text string, known ...string) string {
	for _, k := range known {
		if len(k) >= 4 {
			text = strings.ReplaceAll(text, k, Dots)
		}
	}
	text = named.ReplaceAllStringFunc(text, func(found string) string {
		parts := named.FindStringSubmatch(found)
		if !strings.ContainsAny(parts[1], "=:") && spoken(parts[2]) || slices.Contains(nothings, strings.ToLower(parts[2])) {
			return found
		}
		return parts[1] + Dots
	})
	text = user.ReplaceAllString(text, "${1}"+Dots+"@")
	return formed.ReplaceAllStringFunc(text, func(found string) string {
		if i := strings.IndexAny(found, " \t"); i >= 0 {
			return found[:i+1] + Dots
		}
		return Dots
	})
}

// spoken reports whether a value that only a blank joins to its name is a word
// of a sentence: keys have digits or other signs in them.
func spoken(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r >= '0' && r <= '9' || r == '-' || r == '_' })
}

// Args puts dots in place of the secrets on a command line, which it copies:
// values of flags and variables that are keys by their name.
func Args(args []string) []string {
	out := slices.Clone(args)
	for i := range out {
		name, _, joined := strings.Cut(out[i], "=")
		switch {
		case joined && Named(name):
			out[i] = name + "=" + Dots
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") && Named(args[i-1]) && !strings.HasPrefix(args[i], "-"):
			out[i] = Dots
		default:
			out[i] = Hide(out[i])
		}
	}
	return out
}

// words are those that a secret's name has. A plural is none: max-tokens is a
// number.
var words = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "APIKEY"}

// Named reports whether a flag or variable of that name holds a secret.
func Named(name string) bool {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if slices.Contains(words, strings.ToUpper(part)) {
			return true
		}
	}
	return false
}

// Environ returns the values of the secrets in an environment, by their names.
func Environ(env []string) (values []string) {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); Named(name) && len(value) >= 8 {
			values = append(values, value)
		}
	}
	return values
}
