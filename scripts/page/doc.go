// Package page keeps parts of a document that commands write: a part stands
// between two marks that name the command, what is around it is written by hand
// or by another command.
//
//	<!-- make engines: begin -->
//	…
//	<!-- make engines: end -->
package page
