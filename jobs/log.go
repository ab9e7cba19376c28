package jobs

import (
	"log/slog"

	"linkwatch/models"
)

// LogError logs an error of background work. A fault of the database, such as a
// full disk, is logged as an error when it begins; what follows from it is a
// warning.
func LogError(log *slog.Logger, msg string, err error) {
	if models.FaultOf(err) != nil {
		log.Warn(msg, "error", err)
		return
	}
	log.Error(msg, "error", err)
}
