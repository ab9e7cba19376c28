package sites

// For tests of the quota days.
var (
	DayEnd   = dayEnd
	PauseEnd = pauseEnd
)
