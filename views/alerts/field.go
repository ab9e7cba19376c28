package alerts

import (
	"cmp"
	"strings"

	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// field is the data of textField.
type field struct {
	Name, Label, Value      string
	Hint, Placeholder, Type string // Type defaults to text
	List                    string // ID of the list of suggestions; "" if none
	Error                   string
	Required                bool
}

// errorID and hintID return the element IDs of the error and the hint of a field.
func errorID(name string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(name) + "-error"
}
func hintID(name string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(name) + "-hint"
}

// inputType returns the type of the input. A number is text, because browsers do not accept "1,000" in a number field.
func (f field) inputType() string {
	if f.Type == "number" {
		return "text"
	}
	return cmp.Or(f.Type, "text")
}

// inputMode returns the keyboard for the input.
func (f field) inputMode() string {
	if f.Type == "number" {
		return "numeric"
	}
	return "text"
}

// described returns the value of aria-describedby.
func (f field) described() string {
	if f.Hint == "" {
		return errorID(f.Name)
	}
	return hintID(f.Name) + " " + errorID(f.Name)
}

// Choice is an option of a form: a target, a status page or a channel.
type Choice struct {
	ID, Name string
	Hint     string // shown after the name
	Private  bool
}

// Scope is the data of the scope fields.
type Scope struct {
	Chosen      []Choice // chosen targets
	Find        string   // search text
	Found       []Choice // other targets to choose from
	More        bool     // there are more than Found
	StatusPages []Choice // all status pages, and chosen ones that were deleted
	OnPages     []string // IDs of the chosen status pages
	Tags        string   // separated by commas
	Items       []Choice // chosen items of all kinds; their ID is kind:id
	FoundItems  []Choice // others to choose from
	Errors      ui.Errors
	Action      string // path that the form posts to
	Of          string // subject of the help text: "The rule", "The window"
}

// fill returns the autocomplete attribute of a field.
func fill(f field) string {
	if f.Type == "password" {
		return "new-password"
	}
	return "off"
}

func ids(all []Choice) (ids []string) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

// ItemID is the value of an item in forms.
func ItemID(r alerts.Ref) string { return r.Kind + ":" + r.ID }

func itemIDs(all []alerts.Ref) (ids []string) {
	for _, r := range all {
		ids = append(ids, ItemID(r))
	}
	return ids
}

// zones are the suggested time zones. Forms accept every IANA time zone.
var zones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Argentina/Buenos_Aires", "America/Bogota", "America/Chicago",
	"America/Denver", "America/Halifax", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Phoenix", "America/Sao_Paulo",
	"America/Toronto", "America/Vancouver", "Asia/Bangkok", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jerusalem", "Asia/Karachi", "Asia/Kolkata",
	"Asia/Manila", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Taipei", "Asia/Tokyo", "Australia/Brisbane", "Australia/Melbourne",
	"Australia/Perth", "Australia/Sydney", "Europe/Amsterdam", "Europe/Athens", "Europe/Berlin", "Europe/Brussels", "Europe/Dublin", "Europe/Helsinki",
	"Europe/Istanbul", "Europe/Kyiv", "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Oslo", "Europe/Paris", "Europe/Prague", "Europe/Rome",
	"Europe/Stockholm", "Europe/Vienna", "Europe/Warsaw", "Europe/Zurich", "Pacific/Auckland", "Pacific/Honolulu",
}
