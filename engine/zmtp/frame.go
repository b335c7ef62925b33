package zmtp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Bits of a frame's first byte.
const (
	flagMore    = 1 << 0
	flagLong    = 1 << 1
	flagCommand = 1 << 2
)

const (
	maxMessage = 32 << 20 // bytes of all frames of a message
	maxRequest = 64 << 10 // the same, from the peers of a listener
	maxFrames  = 64
	maxCommand = 4 << 10
	step       = 256 << 10 // memory taken on a peer's word, before bytes came
)

// appendFrame appends one frame. flags may hold flagMore and flagCommand.
func appendFrame(dst []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		dst = append(dst, flags|flagLong)
		dst = binary.BigEndian.AppendUint64(dst, uint64(len(body)))
	} else {
		dst = append(dst, flags, byte(len(body)))
	}
	return append(dst, body...)
}

// appendMessage appends the frames of one message.
func appendMessage(dst []byte, frames [][]byte) []byte {
	for i, f := range frames {
		flags := byte(0)
		if i < len(frames)-1 {
			flags = flagMore
		}
		dst = appendFrame(dst, flags, f)
	}
	return dst
}

// checkMessage reports whether a peer would take the message.
func checkMessage(frames [][]byte) error {
	n := 0
	for _, f := range frames {
		n += len(f)
	}
	if len(frames) == 0 || len(frames) > maxFrames || n > maxMessage {
		return fmt.Errorf("send %d frames, %d bytes: %w", len(frames), n, ErrTooLarge)
	}
	return nil
}

// header reads a frame's flags and length.
func (w *wire) header() (flags byte, n uint64, err error) {
	if flags, err = w.r.ReadByte(); err != nil {
		return 0, 0, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&(flagCommand|flagMore) == flagCommand|flagMore {
		return 0, 0, fmt.Errorf("frame flags %#x: %w", flags, ErrProtocol)
	}
	size := w.head[:1]
	if flags&flagLong != 0 {
		size = w.head[:8]
	}
	if _, err := io.ReadFull(w.r, size); err != nil {
		return 0, 0, err
	}
	for _, b := range size {
		n = n<<8 | uint64(b)
	}
	return flags, n, nil
}

// message reads the next message. Commands that come in between are handled.
// The frames are valid until the next call.
//
// A deadline that passes before the first byte is os.ErrDeadlineExceeded and
// leaves the connection usable; after any other error it is not, and message
// returns that error again.
func (w *wire) message() ([][]byte, error) {
	if w.broken != nil {
		return nil, w.broken
	}
	if _, err := w.r.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	frames, err := w.frames()
	if err != nil {
		w.broken = noEOF(err, len(w.buf) > 0)
		if errors.Is(err, os.ErrDeadlineExceeded) { // which tells of the other kind
			w.broken = fmt.Errorf("a deadline passed inside a message: %w", io.ErrUnexpectedEOF)
		}
		return nil, w.broken
	}
	return frames, nil
}

// noEOF tells an end inside a message from one between messages.
func noEOF(err error, inside bool) error {
	if inside && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (w *wire) frames() ([][]byte, error) {
	w.buf, w.ends = w.buf[:0], w.ends[:0]
	for {
		flags, n, err := w.header()
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			if err := w.takeCommand(n); err != nil {
				return nil, err
			}
			continue
		}
		if n > uint64(w.limit-len(w.buf)) || len(w.ends) == maxFrames {
			return nil, fmt.Errorf("frame %d of %d bytes: %w", len(w.ends), n, ErrTooLarge)
		}
		if w.buf, err = w.fill(w.buf, int(n)); err != nil {
			return nil, err
		}
		w.ends = append(w.ends, len(w.buf))
		if flags&flagMore == 0 {
			return w.cut(), nil
		}
	}
}

// cut makes slices of what lies in buf.
func (w *wire) cut() [][]byte {
	w.out = w.out[:0]
	from := 0
	for _, end := range w.ends {
		w.out = append(w.out, w.buf[from:end:end])
		from = end
	}
	return w.out
}

// fill appends n bytes from the connection, taking memory as they come.
func (w *wire) fill(dst []byte, n int) ([]byte, error) {
	for n > 0 {
		part := min(n, max(step, cap(dst)-len(dst)))
		at := len(dst)
		if cap(dst)-at < part {
			grown := make([]byte, at, max(at+part, 2*cap(dst)))
			copy(grown, dst)
			dst = grown
		}
		dst = dst[:at+part]
		if _, err := io.ReadFull(w.r, dst[at:]); err != nil {
			return dst, err
		}
		n -= part
	}
	return dst, nil
}
