package ui

// Hit is something that the search over everything found.
type Hit struct {
	Title  string
	Detail string // beside or below the title: its address; "" = none
	Path   string // of its page
	Status string // how it does, in one word: "down"; "" = it is not said
	Icon   string // the shape of Status, see Icon
}
