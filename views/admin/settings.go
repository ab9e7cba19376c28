package admin

import "linkwatch/views/ui"

// Setting is one setting with its value in force. Secrets are masked.
type Setting struct{ Name, Value, Default, Meaning string }

// Settings is the page of the settings in force.
type Settings struct {
	ui.Page
	Settings []Setting
}
