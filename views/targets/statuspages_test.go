package targets

import (
	"testing"

	"linkwatch/models/targets"
)

func TestSnippets(t *testing.T) {
	v := StatusEdit{BaseURL: "https://x.example", Saved: targets.StatusPage{Slug: "s"}}
	named := targets.Target{ID: "t_1", Name: `a]("b" <i>`}
	if got, want := v.markdown(named)[:75], `[![a\]("b" &lt;i>: status](https://x.example/badge/t_1/status.svg)](https:/`; got != want {
		t.Errorf("Markdown is %s, want %s", got, want)
	}
	if got, want := v.markup(named)[:110], `<a href="https://x.example/status/s"><img src="https://x.example/badge/t_1/status.svg" alt="a](&#34;b&#34; &lt`; got != want {
		t.Errorf("HTML is %s, want %s", got, want)
	}
}
