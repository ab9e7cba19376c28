package ui

// keyHelp is what the help dialog lists; static/app.js does it.
var keyHelp = []struct {
	keys []string
	what string
}{
	{[]string{"/"}, "Search"},
	{[]string{"n"}, "New link, target or short link"},
	{[]string{"j", "k"}, "Next, previous row"},
	{[]string{"Enter", "o"}, "Open"},
	{[]string{"e"}, "Details and edit"},
	{[]string{"x"}, "Select (Shift + click: a range)"},
	{[]string{"p"}, "Pause or resume a target, disable or enable a short link"},
	{[]string{"c"}, "Check a target now"},
	{[]string{"y"}, "Copy a short link's address"},
	{[]string{"u"}, "Undo the last action"},
	{[]string{"[", "]"}, "Previous, next page"},
	{[]string{"g", "o"}, "Go to Overview"},
	{[]string{"g", "l"}, "Go to Links"},
	{[]string{"g", "t"}, "Go to Tags"},
	{[]string{"g", "w"}, "Go to Watch"},
	{[]string{"g", "s"}, "Go to Short"},
	{[]string{"g", "a"}, "Go to Admin"},
	{[]string{"Esc"}, "Leave a field, clear the selection"},
	{[]string{"?"}, "This help"},
}
