// Package script lets a person write the rule that picks workers, without a
// rebuild: a file in Starlark, a small dialect of Python
// (github.com/bazelbuild/starlark).
//
//	def pick(need, workers):
//	    costs = {}
//	    for w in workers:
//	        costs[w.name] = (w.pending + w.new) * (w.in_flight + 1)
//	    return costs
//
// pick gets what every rule gets: the turn, and the workers that may take it,
// in the order of their names. It returns the name of one of them; or what
// they cost by name, of which the least is taken, and the costs are in the
// decision for who asks why; or None, and the default rule decides. The fields
// of need and of a worker are in fields.go. math.* and these are there: abs,
// all, any, bool, dict, enumerate, fail, float, hash, int, len, list, max,
// min, range, reversed, sorted, str, tuple, type, zip.
//
// A file may be wrong, and it may be hostile: it is run for every turn, while
// the model's other turns wait. So
//
//   - it can reach nothing: no files, no network, no clock, no other file, and
//     no memory from one decision to the next, its globals being frozen;
//   - a decision takes at most Limits.Steps steps and Limits.Time, and its
//     operations handle at most Limits.Size values. The interpreter counts no
//     memory, and one operation may take any amount of it ("x" * 10^9), or of
//     time (== of two nested lists). So the syntax tree is rewritten before it
//     is compiled: each operator, method and builtin is one that first weighs
//     what it is given, see rewrite.go and meter.go. For that, some things are
//     not there: the methods that make much of little (join, format, replace),
//     % on text, *args in a call, load, while and recursion;
//   - whatever goes wrong, the default rule decides, and Decision.Warning says
//     what went wrong and where, for whoever shows decisions.
//
// Rule is safe for concurrent use. Cost: some 50 µs and 70 allocations for
// eight workers and the file above.
package script
