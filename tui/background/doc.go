// Package background tells Lip Gloss that the terminal is dark, before
// anybody asks the terminal.
//
// Bubble Tea asks for the background colour in its package init. A terminal
// that does not answer costs five seconds there, in every command of the
// program, whether or not it draws. Package init runs in the order of import
// paths among packages that do not depend on each other, so this one, whose
// path sorts before github.com/charmbracelet, is in time. It imports Lip
// Gloss only and must stay that way. Nothing is lost by it: the screens use
// the terminal's own sixteen colours, which suit its background.
package background
