// Package conform is the suite that every adapter passes, whatever engine is
// behind it. It is for tests only.
//
// A Target is an adapter and a server; Run probes it and goes through what the
// rest of dyn relies on: ids in, text and ids out; how answers end; stop
// strings and ids; that a cancel frees the engine; whose fault an error is;
// what a broken answer is; salts, priorities, forms, log probabilities; counts
// that add up; many at once. What a server cannot do is in Lacks, with the
// reason, and is skipped by that name.
//
// The suite asks for nothing that only one model says: stop strings and ids
// are taken from an answer that came before, so it works with random weights
// too. It needs a server that says the same to the same prompt at temperature
// zero, and that nobody else uses.
//
// Targets: the simulated engine, faces of engines that cannot run here
// (package fake), and real servers that DYN_ENGINES names:
//
//	DYN_ENGINES="vllm=http://127.0.0.1:8000 llamacpp=http://127.0.0.1:8080,salt" \
//		go test -v -run TestReal ./engine/conform
//
// Behind an address stand the parts that this server cannot pass; spaces in
// their names are underscores; slots=2 says that it computes so few answers at
// once, and honours priorities. DYN_ENGINES_KEY is the key of all of them.
package conform
