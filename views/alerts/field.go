package alerts

import (
	"cmp"
	"strings"

	"linkwatch/views/ui"
)

// field is an input of a form with its label, hint and error.
type field struct {
	Name, Label, Value      string
	Hint, Placeholder, Type string // "" = none, none, text
	List                    string // id of its suggestions; "" = none
	Error                   string
	Required                bool
}

// errorID is the id of the error of a field, and hintID that of its hint.
func errorID(name string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(name) + "-error"
}
func hintID(name string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(name) + "-hint"
}

func (f field) inputType() string { return cmp.Or(f.Type, "text") }

// described are the ids of what describes the field.
func (f field) described() string {
	if f.Hint == "" {
		return errorID(f.Name)
	}
	return hintID(f.Name) + " " + errorID(f.Name)
}

// Choice is an option of a form: a target, a status page or a channel.
type Choice struct {
	ID, Name string
	Hint     string // beside the name; "" = nothing
	Private  bool
}

// Scope is what was chosen of targets, status pages and tags.
type Scope struct {
	Chosen      []Choice // targets
	Find        string   // a part of the names to choose from
	Found       []Choice // targets to choose from
	More        bool     // there are more than those
	StatusPages []Choice // all of them, and chosen ones that were deleted
	OnPages     []string // ids of the chosen status pages
	Tags        string   // separated by commas
	Errors      ui.Errors
	Action      string // the path that the form posts to
	Of          string // what has the scope: "The rule", "The window"
}

// fill is the autocomplete attribute of a field.
func fill(f field) string {
	if f.Type == "password" {
		return "new-password"
	}
	return "off"
}

// ids are the ids of choices.
func ids(all []Choice) (ids []string) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

// zones are the time zones that forms suggest. Every other one of the IANA database can be typed.
var zones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Argentina/Buenos_Aires", "America/Bogota", "America/Chicago",
	"America/Denver", "America/Halifax", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Phoenix", "America/Sao_Paulo",
	"America/Toronto", "America/Vancouver", "Asia/Bangkok", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jerusalem", "Asia/Karachi", "Asia/Kolkata",
	"Asia/Manila", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Taipei", "Asia/Tokyo", "Australia/Brisbane", "Australia/Melbourne",
	"Australia/Perth", "Australia/Sydney", "Europe/Amsterdam", "Europe/Athens", "Europe/Berlin", "Europe/Brussels", "Europe/Dublin", "Europe/Helsinki",
	"Europe/Istanbul", "Europe/Kyiv", "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Oslo", "Europe/Paris", "Europe/Prague", "Europe/Rome",
	"Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw", "Europe/Zurich", "Pacific/Auckland", "Pacific/Honolulu",
}
