//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// The linker leaves out methods that no code calls. It cannot do that once the program contains code that calls a method by a name
// that is known only at run time, such as text/template. A new dependency with such code adds 20 MB to the program. To find it, build
// with -ldflags=-dumpdep and search for ReflectMethod.
func TestProgramHasNoUnusedMethods(t *testing.T) {
	t.Parallel()
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", binary).Output()
	if err != nil {
		t.Fatal("list the symbols of the program: ", err)
	}
	if !strings.Contains(string(symbols), " github.com/redis/go-redis/v9.cmdable.Publish\n") {
		t.Error("Publish of the Redis client is missing, which the program uses: the names of symbols have changed")
	}
	for _, unused := range []string{"github.com/redis/go-redis/v9.cmdable.GeoSearch", "text/template.(*Template).Execute"} {
		if strings.Contains(string(symbols), " "+unused+"\n") {
			t.Errorf("the program contains %s, which nothing calls", unused)
		}
	}
}
