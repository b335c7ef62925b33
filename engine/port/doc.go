// Package port chooses TCP ports for servers that take some time until they
// listen.
//
// A port that the kernel chooses (":0") is one of those that it also gives to
// every outgoing connection of the machine, so that it may be gone before a
// server, seconds later, binds it. Free takes one below those.
package port
