package openapi

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

//go:embed api/*.schema
var files embed.FS

// schema is a JSON schema.
type schema = map[string]any

// object is an object while the files are read.
type object struct {
	schema
	required []string
	embedded []string // objects whose fields it has too
}

// definitions are what the files define, by name.
type definitions struct {
	schemas map[string]schema
	objects map[string]*object
}

// read reads all files. What it meets that is not the language is a fault of
// this program.
func read() *definitions {
	d := &definitions{schemas: map[string]schema{}, objects: map[string]*object{}}
	list, _ := files.ReadDir("api")
	for _, f := range list {
		text, _ := files.ReadFile("api/" + f.Name())
		d.file(f.Name(), string(text))
	}
	for name, o := range d.objects {
		d.fill(name, o)
	}
	return d
}

// typed reads one type.
func (d *definitions) typed(expression string) schema {
	r := newReader(expression, expression)
	r.next()
	s := r.union()
	r.expect(scanner.EOF)
	return s
}

// gather adds to named the definitions that a schema refers to, and those that
// they do.
func (d *definitions) gather(named schema, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.gather(named, e)
		}
	case schema:
		for key, e := range v {
			ref, ok := e.(string)
			if !ok || key != "$ref" {
				d.gather(named, e)
				continue
			}
			name := strings.TrimPrefix(ref, refs)
			if d.schemas[name] == nil {
				panic("openapi: nothing defines " + name)
			}
			if named[name] == nil {
				named[name] = d.schemas[name]
				d.gather(named, d.schemas[name])
			}
		}
	}
}

const refs = "#/components/schemas/"

// file reads the definitions of a file.
func (d *definitions) file(name, text string) {
	r := newReader(name, text)
	for r.next(); r.tok != scanner.EOF; {
		doc := r.doc
		name := r.name()
		if d.schemas[name] != nil {
			r.fail(name + " is defined twice")
		}
		r.expect('=')
		s := r.union()
		if o := r.last; o != nil {
			d.objects[name] = o
		}
		if doc != "" {
			s["description"] = doc
		}
		d.schemas[name] = s
	}
}

// fill gives an object the fields of those that it embeds.
func (d *definitions) fill(name string, o *object) {
	embedded := o.embedded
	o.embedded = nil
	for _, other := range embedded {
		from := d.objects[other]
		if from == nil {
			panic("openapi: " + name + " embeds " + other + ", which is no object")
		}
		d.fill(other, from)
		for key, v := range from.schema["properties"].(schema) {
			o.schema["properties"].(schema)[key] = v
		}
		if o.required = append(o.required, from.required...); len(o.required) > 0 {
			o.schema["required"] = o.required
		}
		if from.schema["additionalProperties"] == true {
			o.schema["additionalProperties"] = true
		}
	}
}

// reader reads one text of the language.
type reader struct {
	s    scanner.Scanner
	tok  rune
	doc  string  // the comment before tok
	last *object // the object that a type was, when it was one alone
}

func newReader(name, text string) *reader {
	r := &reader{}
	r.s.Init(strings.NewReader(text))
	r.s.Filename, r.s.Mode = name, scanner.ScanIdents|scanner.ScanStrings|scanner.ScanComments
	r.s.Error = func(_ *scanner.Scanner, msg string) { r.fail(msg) }
	return r
}

// next goes on to the next token and gathers the comment before it.
func (r *reader) next() {
	r.doc = ""
	for r.tok = r.s.Scan(); r.tok == scanner.Comment; r.tok = r.s.Scan() {
		r.doc = strings.TrimSpace(r.doc + " " + strings.TrimSpace(strings.TrimPrefix(r.s.TokenText(), "//")))
	}
}

func (r *reader) fail(msg string) {
	panic(fmt.Sprintf("openapi: %s: %s", r.s.Position, msg))
}

func (r *reader) expect(tok rune) {
	if r.tok != tok {
		r.fail(fmt.Sprintf("%q where %q should be", r.s.TokenText(), tok))
	}
	r.next()
}

func (r *reader) name() string {
	name := r.s.TokenText()
	r.expect(scanner.Ident)
	return name
}

// is reports whether the token is tok, and if so goes on.
func (r *reader) is(tok rune) bool {
	if r.tok != tok {
		return false
	}
	r.next()
	return true
}

// union reads a type, or several with bars between them.
func (r *reader) union() schema {
	var all []any
	var words []string
	for {
		if r.tok == scanner.String {
			word, _ := strconv.Unquote(r.s.TokenText())
			words = append(words, word)
			r.next()
		} else {
			all = append(all, r.one())
		}
		if !r.is('|') {
			break
		}
	}
	if words != nil {
		all = append(all, schema{"type": "string", "enum": words})
	}
	if len(all) == 1 {
		return all[0].(schema)
	}
	r.last = nil
	return schema{"anyOf": all}
}

// plain are the types that have a name in JSON schema.
var plain = map[string]string{"string": "string", "int": "integer", "number": "number", "bool": "boolean", "object": "object", "null": "null"}

// one reads one type.
func (r *reader) one() schema {
	r.last = nil
	switch {
	case r.is('['):
		items := r.union()
		r.expect(']')
		r.last = nil
		return schema{"type": "array", "items": items}
	case r.tok == '{':
		r.last = r.object()
		return r.last.schema
	}
	name := r.name()
	if kind, ok := plain[name]; ok {
		return schema{"type": kind}
	}
	if name == "any" {
		return schema{}
	}
	return schema{"$ref": refs + name}
}

// object reads the fields of an object.
func (r *reader) object() *object {
	props := schema{}
	o := &object{schema: schema{"type": "object", "properties": props, "additionalProperties": false}}
	for r.expect('{'); !r.is('}'); r.is(',') {
		switch {
		case r.is('+'):
			o.embedded = append(o.embedded, r.name())
		case r.is('*'):
			r.expect(':')
			o.schema["additionalProperties"] = r.union()
		case r.is('.'):
			r.expect('.')
			r.expect('.')
			o.schema["additionalProperties"] = true
		default:
			r.field(o, props)
		}
	}
	if len(o.required) > 0 {
		o.schema["required"] = o.required
	}
	return o
}

func (r *reader) field(o *object, props schema) {
	doc := r.doc
	name := r.name()
	if !r.is('?') {
		o.required = append(o.required, name)
	}
	r.expect(':')
	v := r.union()
	if doc != "" {
		v["description"] = doc
	}
	props[name] = v
}
