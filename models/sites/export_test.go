package sites

var (
	DayEnd   = dayEnd
	PauseEnd = pauseEnd
)
