package alerts

import "maps"

// scopeLabels are the labels of the scope fields by error location. "tags[]" is for one item of the field.
var scopeLabels = map[string]string{
	"targets": "Targets", "subjects": "Items", "status_pages": "Status pages", "tags": "Tags", "tags[]": "Each tag",
}

// RuleLabels are the labels of the fields of a rule by error location.
var RuleLabels = withScope(map[string]string{
	"name": "Name", "events": "Events", "channels": "Channels",
	"after_failures": "Failed checks", "after_minutes": "Delay", "group_wait_seconds": "Group wait", "repeat_minutes": "Reminder interval",
	"quiet.from": "From", "quiet.to": "To", "quiet.time_zone": "Time zone",
	"escalate.after_minutes": "Escalate after", "escalate.channels": "Escalation channels",
})

// GoneTexts are the errors for chosen items that no longer exist, by error location.
var GoneTexts = map[string]string{
	"events": "A chosen event does not exist. Remove it.", "targets": "A chosen target no longer exists. Remove it.",
	"subjects":     "A chosen item no longer exists. Remove it.",
	"status_pages": "A chosen status page no longer exists. Remove it.", "channels": "A chosen channel no longer exists. Choose another.",
	"escalate.channels": "A chosen channel no longer exists. Choose another.",
}

// WindowLabels are the labels of the fields of a maintenance window by error location.
var WindowLabels = withScope(map[string]string{"name": "Name", "starts_at": "Starts", "ends_at": "Ends", "repeat": "Repeats", "time_zone": "Time zone"})

func withScope(labels map[string]string) map[string]string {
	maps.Copy(labels, scopeLabels)
	return labels
}

// Labels returns the labels of the fields by error location.
func (v ChannelForm) Labels() map[string]string {
	labels := map[string]string{"name": "Name"}
	for _, f := range v.Service.Fields {
		labels[f.Name] = f.Label
	}
	return labels
}
