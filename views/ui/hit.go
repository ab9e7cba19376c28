package ui

// Hit is something that the search over everything found.
type Hit struct {
	Title   string
	Key     string // by which people know it beside its title: the key of a short link; "" = none
	Detail  string // beside or below the title: its address; "" = none
	Path    string // of its page
	Private bool   // only its owner and admins see it
	Level   string // how urgent it is, before its status: "critical"; "" = it is not said
	Mark    string // the shape of Level, see Icon
	Status  string // how it does, in one word: "down"; "" = it is not said
	Icon    string // the shape of Status, see Icon
}
