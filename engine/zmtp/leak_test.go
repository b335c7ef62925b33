package zmtp

import (
	"testing"

	"go.uber.org/goleak"
)

// Every goroutine has an owner that ends it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
