// Command profile makes a CPU profile fit to be kept: from standard input to
// standard output, without the paths of the machine that it was taken on.
//
// The compiler reads names of functions, lines and weights. Besides these a
// profile tells which program and libraries ran, by path; functions of a
// -trimpath build lie in no folder. The format is that of pprof, a gzipped
// protocol buffer: https://github.com/google/pprof/blob/main/proto/profile.proto
package main
