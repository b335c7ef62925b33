package bpe

import "strings"

// Pattern is the split pattern of Qwen's files, and of our own.
const Pattern = beforeNumber + `\p{N}` + afterNumber

// The patterns that have a scanner, in parts.
const (
	beforeNumber = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	afterNumber  = `| ?[^\s\p{L}\p{N}]+[\r\n]*` + afterSigns
	afterSigns   = `|\s*[\r\n]+|\s+(?!\S)|\s+`

	withAccents = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}` +
		`| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + afterSigns

	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	capitals     = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`
	smalls       = `[\p{Ll}\p{Lm}\p{Lo}\p{M}`
	before       = `[^\r\n\p{L}\p{N}]?`
	ending       = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`
	noHan        = `&&[^\p{Han}]`
	o200kPattern = before + capitals + `]*` + smalls + `]+` + ending + before + capitals + `]+` + smalls + `]*` + ending +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + afterSigns
	tekkenPattern = before + capitals + `]*` + smalls + `]+|` + before + capitals + `]+` + smalls + `]*|` +
		`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + afterSigns
	kimiPattern = `[\p{Han}]+|` + before + capitals + noHan + `]*` + smalls + noHan + `]+` + ending +
		before + capitals + noHan + `]+` + smalls + noHan + `]*` + ending +
		`\p{N}{1,3}` + afterNumber

	threeDigits     = `\p{N}{1,3}`
	cjkRun          = `[一-龥぀-ゟ゠-ヿ]+`
	deepseekPattern = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" +
		`|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*` + afterSigns
)

// between joins the patterns of several stages to one key.
const between = "\x00"

// scanner returns the scanner of a known pattern, or of known stages joined
// by between, else nil.
func scanner(pattern string) splitter {
	t := table()
	switch pattern {
	case Pattern:
		return &cl100k{t, 1, letter}
	case beforeNumber + threeDigits + afterNumber:
		return &cl100k{t, 3, letter}
	case withAccents:
		return &cl100k{t, 1, letter | accent}
	case gpt2Pattern:
		return &gpt2{t, false}
	case `\p{N}` + between + gpt2Pattern:
		return &gpt2{t, true}
	case o200kPattern:
		return &o200k{classes: t, digits: 3, contractions: true, slash: true}
	case tekkenPattern:
		return &o200k{classes: t, digits: 1, slash: true}
	case kimiPattern:
		return &o200k{classes: t, digits: 3, contractions: true, apart: han}
	case threeDigits + between + cjkRun + between + deepseekPattern:
		return &deepseek{t}
	}
	return nil
}

// whole is the splitter of files that do not split.
type whole struct{}

func (whole) stretch(s string, _ int) int { return len(s) }
func (whole) next(s string, _ int) int    { return len(s) }

// cut takes the pre-tokenizer of a byte-level file: splits, then the bytes'
// alphabet, which may split as GPT-2 does.
func (t *Tokenizer) cut(s stage) error {
	parts := []stage{s}
	if s.Type == "Sequence" {
		parts = s.Pretokenizers
	}
	n := len(parts) - 1
	if n < 0 || parts[n].Type != "ByteLevel" {
		return unsupported("pre_tokenizer %s", named(s))
	}
	if parts[n].AddPrefixSpace == nil || *parts[n].AddPrefixSpace {
		return unsupported("add_prefix_space")
	}
	patterns, err := splits(parts[:n])
	if err != nil {
		return err
	}
	if r := parts[n].UseRegex; r == nil || *r {
		patterns = append(patterns, gpt2Pattern)
	}
	if len(patterns) == 0 {
		t.split = whole{}
		return nil
	}
	return t.splitBy(patterns)
}

// splitBy takes the patterns of the stages.
func (t *Tokenizer) splitBy(patterns []string) (err error) {
	if t.split = scanner(strings.Join(patterns, between)); t.split == nil {
		t.stages, err = newStages(patterns)
	}
	t.grammar = grammarOf(t.split)
	return err
}

// splits returns the patterns of the split stages.
func splits(stages []stage) (patterns []string, err error) {
	for _, s := range stages {
		switch {
		case s.Type == "Digits" && s.IndividualDigits:
			patterns = append(patterns, `\p{N}`)
			continue
		case s.Type == "Digits":
			patterns = append(patterns, `\p{N}+`)
			continue
		case s.Type != "Split":
			return nil, unsupported("pre_tokenizer %s", named(s))
		case s.Pattern.Regex == nil:
			return nil, unsupported("a split without a regular expression")
		case s.Behavior != "Isolated" && !(s.Behavior == "Removed" && s.Invert && len(stages) == 1):
			return nil, unsupported("split behavior %q, invert %v", s.Behavior, s.Invert)
		}
		// Some files write the line ends as characters, some as escapes.
		patterns = append(patterns, strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(*s.Pattern.Regex))
	}
	return patterns, nil
}
