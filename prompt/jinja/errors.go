package jinja

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrLimit is in the chain of every error of a template that took more than
// its Options allow.
var ErrLimit = errors.New("template is over its limit")

// Error is what a template raised. Kind is the name of Python's exception:
// TemplateSyntaxError from Parse; UndefinedError, TypeError, SecurityError and
// others from Render; TemplateError for raise_exception. Line is the line of
// the template, 0 when it is not known.
type Error struct {
	Kind string
	Msg  string
	Line int
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return "template line " + strconv.Itoa(e.Line) + ": " + e.Kind + ": " + e.Msg
	}
	return "template: " + e.Kind + ": " + e.Msg
}

func raise(kind, format string, args ...any) error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

func typeError(format string, args ...any) error { return raise("TypeError", format, args...) }

func valueError(format string, args ...any) error { return raise("ValueError", format, args...) }

// at gives an error the line where it happened, unless it has one.
func at(line int, err error) error {
	if err == nil {
		return nil
	}
	return located(line, err)
}

func located(line int, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Line == 0 {
		e.Line = line
	}
	return err
}

// kindOf is the kind of an error, "" for one that no template raised.
func kindOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
