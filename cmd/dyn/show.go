package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// asJSON gives a command the --json flag. The document's type tells which
// fields there are; the command's RunE runs only when the asked ones exist.
func asJSON(cmd *cobra.Command, doc any) *jsonFlag {
	j := &jsonFlag{fields: fieldsOf(doc)}
	cmd.Flags().StringVar(&j.ask, "json", "", "print JSON; =help lists the fields")
	cmd.Flags().Lookup("json").NoOptDefVal = "*"
	cmd.RegisterFlagCompletionFunc("json", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append([]string{"help"}, j.fields...), cobra.ShellCompDirectiveNoFileComp
	})
	inner := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.ask == "help" {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(j.fields, "\n"))
			return err
		}
		for _, f := range j.picked() {
			if !slices.Contains(j.fields, f) {
				return fail(usage, opOf(cmd), fmt.Errorf("--json has no field %q", f), "fields: "+strings.Join(j.fields, ", "),
					cmd.CommandPath()+" --json=help")
			}
		}
		return inner(cmd, args)
	}
	return j
}

// jsonFlag is what was asked of --json: "" nothing, "*" all, else fields.
type jsonFlag struct {
	ask    string
	fields []string
}

func (j *jsonFlag) on() bool { return j.ask != "" }

func (j *jsonFlag) picked() []string {
	if j.ask == "" || j.ask == "*" {
		return nil
	}
	return strings.Split(j.ask, ",")
}

// print writes a document, or the picked fields of it.
func (j *jsonFlag) print(w io.Writer, doc any) error { return j.write(w, doc, "  ") }

// line is print on one line, for documents that come one after the other.
func (j *jsonFlag) line(w io.Writer, doc any) error { return j.write(w, doc, "") }

func (j *jsonFlag) write(w io.Writer, doc any, indent string) error {
	if picked := j.picked(); picked != nil {
		all, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(all, &fields); err != nil {
			return err
		}
		some := map[string]json.RawMessage{}
		for _, f := range picked {
			some[f] = fields[f]
		}
		doc = some
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(doc)
}

// fieldsOf lists a struct's JSON names, embedded structs' among them.
func fieldsOf(doc any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(doc)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// table prints rows: aligned on a terminal, with tabs elsewhere. The columns
// of right, by index, hold numbers and are aligned to the right.
type table struct {
	head  []string
	right []int
	rows  [][]string
}

// add adds a row. What a terminal would act on becomes a sign: names come from
// clients.
func (t *table) add(row ...string) {
	for i := range row {
		row[i] = signs(row[i])
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w io.Writer) error {
	all := t.rows
	if t.head != nil {
		all = append([][]string{t.head}, t.rows...)
	}
	var b bytes.Buffer
	if _, tty := terminal(w); !tty {
		for _, row := range all {
			fmt.Fprintln(&b, strings.Join(row, "\t"))
		}
		_, err := w.Write(b.Bytes())
		return err
	}
	width := map[int]int{}
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], cells(c))
		}
	}
	for _, row := range all {
		line := ""
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-cells(c))
			if slices.Contains(t.right, i) {
				line += pad + c + "  "
			} else {
				line += c + pad + "  "
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// terminal reports whether w is a terminal, and its width. DYN_FORCE_TTY
// makes it one.
func terminal(w io.Writer) (columns int, tty bool) {
	if p, ok := w.(*page); ok {
		return p.columns, true
	}
	if n, err := strconv.Atoi(os.Getenv("DYN_FORCE_TTY")); err == nil && n > 0 {
		return n, true
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	return columns, true
}

// count writes a number short: 999, 12.3k, 4.56M.
func count(n int) string {
	switch x := float64(n); {
	case n < 0:
		return "–"
	case n < 1000:
		return strconv.Itoa(n)
	case n < 1e6:
		return strconv.FormatFloat(x/1e3, 'f', digits(x/1e3), 64) + "k"
	default:
		return strconv.FormatFloat(x/1e6, 'f', digits(x/1e6), 64) + "M"
	}
}

func digits(x float64) int {
	switch {
	case x < 10:
		return 2
	case x < 100:
		return 1
	}
	return 0
}

// size writes bytes short: 999 B, 12.3 MB; – for unknown.
func size(n int64) string {
	if n < 0 {
		return "–"
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, unit := float64(n)/1e3, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if x < 1000 {
			break
		}
		x, unit = x/1e3, next
	}
	return strconv.FormatFloat(x, 'f', digits(x), 64) + " " + unit
}

// ms writes milliseconds: 12ms, 1.2s; – for unknown.
func ms(x float64) string {
	switch {
	case x < 0:
		return "–"
	case x < 1000:
		return strconv.FormatFloat(x, 'f', 0, 64) + "ms"
	}
	return strconv.FormatFloat(x/1000, 'f', 1, 64) + "s"
}

// percent writes a share; – for unknown.
func percent(x *float64) string {
	if x == nil {
		return "–"
	}
	return strconv.FormatFloat(*x*100, 'f', 1, 64) + "%"
}
