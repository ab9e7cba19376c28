// Package alerts renders the pages of alerts.
package alerts

import (
	"strings"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// The paths of pages and actions.
const (
	AlertsPath      = "/alerts"
	ChannelsPath    = "/alerts/channels"
	RulesPath       = "/alerts/rules"
	MaintenancePath = "/alerts/maintenance"
	AlertMePath     = "/alerts/alert-me"
	BulkPath        = "/alerts/bulk"
	BulkUndoPath    = "/alerts/bulk/undo"
)

// ChannelPath returns the path of a channel.
func ChannelPath(id string) string { return alerts.ChannelPath(id) }

// RulePath returns the path of a rule.
func RulePath(id string) string { return RulesPath + "/" + id }

// WindowPath returns the path of a maintenance window.
func WindowPath(id string) string { return MaintenancePath + "/" + id }

// managePath returns the path of the public page of an alert, without the key.
func managePath(id string) string { return alerts.AlertPath(id) + "/manage" }

// subjectPath returns the path of the page of a subject, or "" if it has none.
func subjectPath(kind, id string) string {
	switch kind {
	case alerts.SubjectTarget:
		return "/watch/" + id
	case alerts.SubjectLink:
		return "/links/" + id
	case "job":
		return "/crawl/jobs/" + id
	case "website":
		return "/sites/" + id
	case "system":
		return "/admin/jobs/" + id
	case "page":
		if strings.HasPrefix(id, string(models.KindCrawled)+"_") {
			return "/crawl/pages/" + id
		}
	}
	return ""
}
