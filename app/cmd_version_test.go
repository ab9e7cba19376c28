package app

import (
	"runtime/debug"
	"testing"
)

// The version is what the go command wrote into the program. What it did not write is unknown.
func TestVersion(t *testing.T) {
	const commit, date = "3628f4504ed7c2a9f7d0d8a3b1f0e9c8d7b6a594", "2026-11-29T06:00:32Z"
	const unknown = "linkwatch devel\ncommit   unknown\ndate     unknown"
	git := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: date}}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{
			&debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: git},
			"linkwatch v0.9.0\ncommit   " + commit + "\ndate     " + date,
		},
		{
			&debug.BuildInfo{Main: debug.Module{Version: "v0.9.1-0.20261129060032-3628f4504ed7+dirty"}, Settings: git},
			"linkwatch v0.9.1-0.20261129060032-3628f4504ed7+dirty\ncommit   " + commit + "\ndate     " + date,
		},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, unknown},
		{&debug.BuildInfo{}, unknown},
		{nil, unknown},
	} {
		if got := buildOf(c.info).String(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
