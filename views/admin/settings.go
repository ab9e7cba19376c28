package admin

import "linkwatch/views/ui"

// Setting is a setting with its current value. Secrets are masked.
type Setting struct{ Name, Value, Default, Meaning string }

// Settings is the page of all settings.
type Settings struct {
	ui.Page
	Settings []Setting
}
