package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

const workflow = ".github/workflows/ci.yml"

// The workflow of GitHub is valid, pins its actions and builds with the Go version of deploy/Dockerfile.
func TestWorkflow(t *testing.T) {
	if out, err := tool(t, "actionlint", workflow); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("../../" + workflow)
	if err != nil {
		t.Fatal(err)
	}
	for _, uses := range regexp.MustCompile(`uses: (\S+)`).FindAllSubmatch(text, -1) {
		if !regexp.MustCompile(`@v\d+\.\d+\.\d+$`).Match(uses[1]) {
			t.Errorf("%s is not pinned", uses[1])
		}
	}
	dockerfile, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	image := regexp.MustCompile(`(?m)^FROM (golang:\S+)`).FindSubmatch(dockerfile)[1]
	containers := regexp.MustCompile(`image: (\S+)`).FindAllSubmatch(text, -1)
	for _, c := range containers {
		if !bytes.Equal(c[1], image) {
			t.Errorf("got image %s, want %s", c[1], image)
		}
	}
	if len(containers) != 2 {
		t.Errorf("got %d jobs in containers", len(containers))
	}
}
