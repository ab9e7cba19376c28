package ui

// Hit is a result of the global search.
type Hit struct {
	Title   string
	Key     string // key of a short link; "" = none
	Detail  string // such as its URL; "" = none
	Path    string // path of its page
	Private bool   // visible only to its owner and admins
	Level   string // severity, shown before the status: "critical"; "" = none
	Mark    string // icon of Level, see Icon
	Status  string // "down"; "" = none
	Icon    string // icon of Status, see Icon
}
