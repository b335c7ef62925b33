// Package cable is a network between a test and a server that the test can
// break: a TCP proxy on loopback whose connections are carried, held up, cut,
// or swallowed without a word.
//
// What may be done to a Cable: Pull has everything vanish, connections that
// are made meanwhile too, as when a host loses its power or a switch its
// configuration; Plug ends that for new connections. Cut closes all
// connections, as a crash or a firewall does. Delay holds each piece of bytes
// up, in both directions, in order. Hold lets nothing through until it is
// released, and then everything: a link that stalls.
//
// Cost: two goroutines a connection, and 32 KiB each. For tests only.
package cable
