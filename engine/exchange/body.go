package exchange

import (
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
)

// body reads what follows a head, and not a byte more: what comes behind it is
// the next answer's. Once it returned an error it returns that again.
type body struct {
	k      *conn
	left   int64     // bytes of a length; below 0 the connection's end is the body's
	chunks io.Reader // where it comes in chunks, else nil
	err    error
}

func newBody(k *conn, h head) body {
	b := body{k: k, left: h.length}
	if h.chunked {
		b.chunks = httputil.NewChunkedReader(k.in)
	}
	return b
}

func (b *body) Read(p []byte) (n int, err error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.chunks != nil:
		if n, err = b.chunks.Read(p); err == io.EOF {
			err = b.k.trailer()
		}
	case b.left < 0:
		n, err = b.k.in.Read(p)
	case b.left > 0:
		n, err = b.k.in.Read(p[:min(int64(len(p)), b.left)])
		if b.left -= int64(n); err != nil {
			err = unexpected(err)
		}
	}
	if b.left == 0 && err == nil {
		err = io.EOF
	}
	b.err = err
	return n, err
}

const trailerMost = 4 << 10 // bytes of what follows the last chunk

// trailer reads what follows the last chunk, most often an empty line, and
// returns io.EOF when all is as it should be.
func (k *conn) trailer() error {
	for left := trailerMost; ; {
		line, err := k.line(&left)
		switch {
		case errors.Is(err, errHead):
			return errors.New("what follows the answer's last chunk is over 4 KiB")
		case err != nil:
			return unexpected(err)
		}
		line, ok := bytes.CutSuffix(line, carriage)
		switch {
		case !ok:
			return errField
		case len(line) == 0:
			return io.EOF
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); !ok || !token(name) || !printed(value) {
			return errField
		}
	}
}
