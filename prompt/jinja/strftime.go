package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// strftime writes a time as C does in its own locale, glibc's "-" for no
// padding included.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 >= len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		bare := format[i] == '-' && i+1 < len(format)
		if bare {
			i++
		}
		s, ok := directive(t, format[i])
		switch {
		case !ok:
			b.WriteString("%" + format[i:i+1])
		case bare && len(s) > 1:
			if s = strings.TrimLeft(s, "0 "); s == "" {
				s = "0"
			}
			b.WriteString(s)
		default:
			b.WriteString(s)
		}
	}
	return b.String()
}

// layouts are the directives that Go's own time layouts can write.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday",
	'a': "Mon", 'j': "002", 'y': "06", 'p': "PM", 'I': "03", 'e': "_2", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04",
	'D': "01/02/06", 'x': "01/02/06", 'X': "15:04:05", 'c': "Mon Jan _2 15:04:05 2006", 'r': "03:04:05 PM",
}

func directive(t time.Time, c byte) (string, bool) {
	if layout, ok := layouts[c]; ok {
		return t.Format(layout), true
	}
	year, week := t.ISOWeek()
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'G':
		return strconv.Itoa(year), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), true
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return strconv.Itoa(int(t.Weekday())), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'z', 'Z': // the clock is naive, as datetime.now() is
		return "", true
	}
	return "", false
}
