package bpe

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// scanned are all patterns that have a scanner.
var scanned = [][]string{
	{Pattern},
	{beforeNumber + threeDigits + afterNumber},
	{withAccents},
	{gpt2Pattern},
	{`\p{N}`, gpt2Pattern},
	{o200kPattern},
	{tekkenPattern},
	{kimiPattern},
	{threeDigits, cjkRun, deepseekPattern},
}

// ends returns where the scanner's pieces of text end.
func ends(s splitter, text string) (at []int) {
	for i := 0; i < len(text); {
		part := text[:s.stretch(text, i)]
		for i < len(part) {
			i = s.next(part, i)
			at = append(at, i)
		}
	}
	return at
}

// FuzzScanners compares each scanner with its pattern itself.
func FuzzScanners(f *testing.F) {
	for _, s := range []string{
		probe, "", "'S'ſ'll 123'", "ABCdef'VE Éa\u0301B", "漢A字b〇々12", "  \n /\n//\r\n x", "a1二2\u0301!?x",
	} {
		f.Add(s)
	}
	r := rand.New(rand.NewSource(1))
	pool := []rune("aZéÉǅʰª\u0301漢〇々かー・ 12Ⅳ٣ \t\n\r\u00a0\u3000'sſtlLverd/!$_\\🙂\u200d\u0000\ue000")
	for range 3000 {
		text := make([]rune, 1+r.Intn(14))
		for i := range text {
			text[i] = pool[r.Intn(len(pool))]
		}
		f.Add(string(text))
	}
	byPattern := map[string]stages{}
	for _, patterns := range scanned {
		p, err := newStages(patterns)
		if err != nil {
			f.Fatal(err)
		}
		byPattern[strings.Join(patterns, between)] = p
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		if text == "" || len(text) > 300 { // backtracking takes its time
			return
		}
		for pattern, p := range byPattern {
			if got, want := ends(scanner(pattern), text), p.cut(text); !slices.Equal(got, want) {
				t.Errorf("%.60q on %q: pieces end at %v, want %v", pattern, text, got, want)
			}
		}
	})
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ name, pattern, want, fault string }{
		{"as it is", `[^\s\p{L}]+|\s+(?!\S)`, `[^\s\p{L}]+|\s+(?!\S)`, ""},
		{"all but", `[\p{L}&&[^\p{Han}]]+`, `[\p{L}-[\p{Han}]]+`, ""},
		{"both", `[\p{L}&&[a-z\]]]+`, `[\p{L}-[^a-z\]]]+`, ""},
		{"escaped brackets", `[\[\]]&&x`, `[\[\]]&&x`, ""},
		{"intersection of a list", `[a-z&&b-c]`, "", "no translation"},
		{"two intersections", `[a-z&&[^b]&&[^c]]`, "", "no translation"},
		{"nested", `[a[bc]]`, "", "a class inside"},
		{"posix", `[[:alpha:]]+`, "", "a class inside"},
		{"word", `\w+`, "", `\w differs`},
		{"anchor", `\s+$`, "", "$ differs"},
	} {
		got, fault := translate(c.pattern)
		if got != c.want || !strings.Contains(fault, c.fault) || (fault == "") != (c.fault == "") {
			t.Errorf("%s: got %q, %q, want %q, %q", c.name, got, fault, c.want, c.fault)
		}
	}
}
