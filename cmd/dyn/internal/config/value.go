package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/route/script"
)

// units are the endings of a size. The longer ones come first.
var units = []struct {
	end  string
	each int64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1e3},
	{"m", 1e6},
	{"g", 1e9},
}

// normal checks a value and brings it to the form that programs read: sizes
// become plain numbers, paths absolute under dir.
func (s *Setting) normal(value, dir string) (string, error) {
	if s.Off && value == "off" {
		return value, nil
	}
	switch s.Kind {
	case Whole:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return "", fmt.Errorf("%q is no whole number", value)
		}
		return strconv.FormatInt(n, 10), nil
	case Size:
		n, err := ParseSize(value)
		if err != nil {
			return "", err
		}
		return strconv.FormatInt(n, 10), nil
	case Real:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= 1e9) {
			return "", fmt.Errorf("%q is no number of 0 or more, up to 1e9", value)
		}
		return value, nil
	case Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			or := ""
			if s.Off {
				or = ", nor off"
			}
			return "", fmt.Errorf("%q is no time such as 30s or 5m%s", value, or)
		}
		return d.String(), nil
	case Switch:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return "", fmt.Errorf("%q is neither true nor false", value)
		}
		return strconv.FormatBool(on), nil
	case Choice:
		if !slices.Contains(s.Among, value) {
			err := fmt.Errorf("%q is none of %s", value, strings.Join(s.Among, ", "))
			return "", &ValueError{Err: err, Like: Nearest(value, s.Among), Any: s.Among[0]}
		}
	case Rule:
		if strings.HasSuffix(value, script.Suffix) && !filepath.IsAbs(value) {
			value = filepath.Join(dir, value)
		}
		if _, err := script.New(value); err != nil {
			return "", NoRule(err)
		}
	case Path:
		if value != "" && !filepath.IsAbs(value) {
			return filepath.Join(dir, value), nil
		}
	}
	return value, nil
}

// ParseSize reads a whole number that may end in a unit, such as 64k, 80GiB.
func ParseSize(value string) (int64, error) {
	low, each := strings.ToLower(value), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(low, u.end); ok {
			low, each = rest, u.each
			break
		}
	}
	n, err := strconv.ParseInt(low, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/each {
		return 0, fmt.Errorf("%q is no size such as 4096, 64k or 80GiB", value)
	}
	return n * each, nil
}
