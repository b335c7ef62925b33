// Package exchange posts requests to an engine and hands out the answers as
// they come, over HTTP/1.1, all on the caller's goroutine.
//
// The transport of net/http gives each connection two goroutines, and a
// request crosses between the three of them four times. An engine's answer is
// read by one goroutine that has nothing else to do, so nothing is gained by
// that, and it was a sixth of what a short turn costs. Here a request is one
// write of its head and all pieces of its body, and an answer is read from the
// connection itself, its head where it lies. A head that could be read in two
// ways, such as one with two lengths, is an error, also where net/http chooses
// one: a body that ends elsewhere than its engine meant would give the rest of
// it to the next request. What is given up: HTTP/2, proxies, redirects, and an
// answer that comes while its request is still being written is read only
// after the write ended or failed.
//
// Connections are kept for later requests. One on which the engine hung up
// meanwhile, or said what nobody had asked for, is found out before the next
// request goes over it. When it hangs up just then, its first byte never
// comes, and the request is sent again, once, over a new one.
package exchange
