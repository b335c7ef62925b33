package jinja

// expr is a compiled expression, stmt a compiled statement. They hold no
// state of a rendering. test is the truth of what eval gives, often without
// making the value.
type expr interface {
	eval(r *run) (Value, error)
	test(r *run) (bool, error)
}

type stmt interface {
	exec(r *run) (signal, error)
}

// signal is how a statement ended.
type signal uint8

const (
	done signal = iota
	broke
	continued
)

type (
	constExpr struct{ v Value }

	// nameExpr is a variable; where it lives is found by bind.
	nameExpr struct {
		name string
		at   place
	}

	tupleExpr struct {
		items []expr
		all   *literal // nil unless all of it is constant
	}
	listExpr struct {
		items []expr
		all   *literal
	}
	dictExpr struct{ keys, vals []expr }

	attrExpr struct {
		of   expr
		name string
		line int
		// key is set where in a mapping the name can only be one of its keys.
		key bool
		// of a loop variable it is a number known without asking further
		number        loopNumber
		onText, onMap method // of texts and mappings, nil if they have none
	}
	itemExpr struct {
		of, key expr
		line    int
		// plain is set where in a mapping the key is a text and can only be one
		// of its keys.
		plain bool
		name  string // the key where it is a constant text
	}
	sliceExpr struct {
		of                expr
		start, stop, step expr // nil where left out
		line              int
	}

	callExpr struct {
		fn   expr
		args argList
		line int
		// caller is the body of a call block, nil elsewhere.
		caller *macroStmt
		fixed  *fixedCall // nil unless its text is always the same
	}
	filterExpr struct {
		of   expr // nil for the text of a filter block
		name string
		fn   filter
		args argList
		line int
		// lenient is set where Python finds a missing filter only when it runs.
		lenient bool
		length  bool // it is length, without arguments
	}
	testExpr struct {
		of      expr
		name    string
		fn      test
		args    argList
		line    int
		lenient bool
	}

	notExpr  struct{ x expr }
	andExpr  struct{ a, b expr }
	orExpr   struct{ a, b expr }
	signExpr struct {
		x    expr
		neg  bool
		line int
	}
	binExpr struct {
		op   string
		a, b expr
		line int
	}
	concatExpr  struct{ parts []expr }
	compareExpr struct {
		first expr
		ops   []string
		rest  []expr
		line  int
		// quick is the text that first is compared with, nil where it takes
		// more, and equal whether it is to be that text.
		quick *string
		equal bool
	}
	condExpr struct{ cond, then, other expr }
)

// argList is what stands in the parentheses of a call.
type argList struct {
	pos       []expr
	names     []string
	kw        []expr
	star      expr  // *args
	starNames expr  // **kwargs
	all       *args // all of them, where they are constants
}

type (
	dataStmt  struct{ text string }
	printStmt struct {
		x    expr
		by   printer // x, if it is one
		line int
	}
	ifStmt struct {
		test       expr
		then, rest []stmt // rest holds the elifs as one nested ifStmt
	}
	forStmt struct {
		target    expr // nameExpr or tupleExpr of such
		iter      expr
		test      expr
		body      []stmt
		other     []stmt
		recursive bool
		line      int

		loopVar  *nameExpr // nil if the body never asks for it
		fn       *layout   // of a recursive loop, else nil
		bodyInit []initial
		elseInit []initial
		testInit []initial
		weight   int

		brief  bool       // its loop variable is gone with it
		mute   bool       // its body writes nothing
		blind  bool       // its body never asks for the item
		idle   *idle      // nil where none is known
		search *search    // nil if it is none
		late   *ifStmt    // what counts of its body once a round was run, nil where that is all
		id     int        // of a loop whose rounds can be reused, from 1
		slots  [2]int     // the variables of its body: from, to
		over   *watchExpr // iter, where it is watched item by item
		tail   *watchTail // or where it is the rest of something that is
	}
	setStmt struct {
		target expr // nameExpr, fieldExpr or tupleExpr of such
		x      expr
		line   int
	}
	// fieldExpr is a namespace's attribute as the target of an assignment.
	fieldExpr struct {
		ns   *nameExpr
		attr string
		line int

		outside bool // of the round of a loop that can be reused
		depth   int  // functions around
	}
	setBlock struct {
		target expr
		filter expr
		body   []stmt
		init   []initial
		line   int
	}
	macroStmt struct {
		name     string
		target   *nameExpr // nil for the body of a call block
		params   []*nameExpr
		defaults []expr // of the last parameters
		body     []stmt
		line     int

		caller, varargs, kwargs *nameExpr // nil if the body never asks for them

		explicitCaller bool // caller is among the parameters

		fn     *layout
		init   []initial
		weight int
		alone  macro // stands for what the template makes of it
	}
	callBlock struct {
		call *callExpr
		line int
	}
	filterBlock struct {
		filter expr
		body   []stmt
		init   []initial
		line   int
	}
	withStmt struct {
		targets []expr
		values  []expr
		body    []stmt
		init    []initial
		line    int
	}
	// scopeStmt is a generation block: text as any other, with variables of
	// its own.
	scopeStmt struct {
		body []stmt
		init []initial
	}
	breakStmt    struct{}
	continueStmt struct{}
)
