package jobs

import (
	"log/slog"

	"github.com/linkwatch/linkwatch/models"
)

// LevelOf is the level at which background work logs an error of the database.
// A fault such as a full disk is logged as an error once, when it begins; what
// follows from it is a warning.
func LevelOf(err error) slog.Level {
	if models.FaultOf(err) != nil {
		return slog.LevelWarn
	}
	return slog.LevelError
}
