package admin

import (
	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// Flashes are what pages say after actions on jobs.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{Notices: map[string]ui.Flash{"asked": {Text: "The job starts within moments."}}}
}
