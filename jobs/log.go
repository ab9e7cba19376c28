package jobs

import (
	"log/slog"

	"linkwatch/models"
)

// LogError logs an error of background work. A fault of the database, such as a full disk, is already logged as an
// error when it begins, so its consequences are logged as warnings.
func LogError(log *slog.Logger, msg string, err error) {
	if models.FaultOf(err) != nil {
		log.Warn(msg, "error", err)
		return
	}
	log.Error(msg, "error", err)
}
