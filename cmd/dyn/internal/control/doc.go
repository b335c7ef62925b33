// Package control talks to a living daemon over its control socket: HTTP on a
// Unix socket that only the daemon's user can open. The paths it asks for:
//
//	GET    /snapshot              the picture
//	POST   /workers               attach an engine; the body is a turn.Attach
//	DELETE /workers/{name}        detach it
//	POST   /stop                  end; {"now":true} without waiting for turns
//
// A Client holds no connection between calls, so a daemon that restarts is simply
// found again. ErrNone is in the chain when nobody listens, ErrSilent when a
// picture, or the answer to a stop, does not come in five seconds.
package control
