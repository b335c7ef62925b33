package keep

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Strange returns the workers in a folder of run files whose run file cannot be
// read, another release's among them, and whose keeper listens all the same.
// They cannot be adopted. Sockets is the folder of the keepers' sockets.
func Strange(dir, sockets string) []string {
	var all []string
	files, _ := os.ReadDir(dir) // one that is not there has none
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		if _, err := Read(Path(dir, name)); err == nil {
			continue
		}
		if c, err := net.DialTimeout("unix", filepath.Join(sockets, name+".sock"), joinLimit); err == nil {
			c.Close()
			all = append(all, name)
		}
	}
	return all
}

// Evict has strange workers ended by their keepers, and returns when they are
// gone: their memory is needed. The folder of the sockets is this user's alone,
// so whoever listens there is a keeper. One that does not obey is given up on.
func Evict(sockets string, names []string, wait time.Duration) {
	var each sync.WaitGroup
	for _, name := range names {
		each.Go(func() {
			c, err := net.DialTimeout("unix", filepath.Join(sockets, name+".sock"), joinLimit)
			if err != nil {
				return // gone
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(wait + obeyLimit))
			_ = json.NewEncoder(c).Encode(word{Do: doEnd, Wait: wait})
			_, _ = io.Copy(io.Discard, c) // until it hangs up
		})
	}
	each.Wait()
}
