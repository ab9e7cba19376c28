package models

// ProbeAtOnce lets a database with a fault be tried again at each look.
func ProbeAtOnce() (undo func()) {
	before := probeEvery
	probeEvery = 0
	return func() { probeEvery = before }
}
