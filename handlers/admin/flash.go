package admin

import (
	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// Flashes returns the messages after actions on jobs.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{Notices: map[string]ui.Flash{"run_requested": {Text: "The job will start in a few seconds."}}}
}
