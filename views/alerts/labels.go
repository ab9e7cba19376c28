package alerts

import "maps"

// scopeLabels are the labels of the fields of a scope, by the names that errors have. Those with [] are for one item of a field.
var scopeLabels = map[string]string{
	"targets": "Targets", "targets[]": "Each target", "status_pages": "Status pages", "status_pages[]": "Each status page", "tags": "Tags", "tags[]": "Each tag",
}

// RuleLabels are the labels of the fields of the form of a rule, by the names that errors have.
var RuleLabels = withScope(map[string]string{
	"name": "Name", "events": "Events", "events[]": "Each event", "channels": "Channels", "channels[]": "Each channel",
	"after_failures": "Failures", "after_minutes": "Delay", "repeat_minutes": "Repeat every",
	"quiet.from": "From", "quiet.to": "To", "quiet.time_zone": "Time zone",
	"escalate.after_minutes": "Escalate after", "escalate.channels": "Escalation channels", "escalate.channels[]": "Each channel",
})

// WindowLabels are the labels of the fields of the form of a maintenance window, by the names that errors have.
var WindowLabels = withScope(map[string]string{"name": "Name", "starts_at": "Starts", "ends_at": "Ends", "repeat": "Repeats", "time_zone": "Time zone"})

func withScope(labels map[string]string) map[string]string {
	maps.Copy(labels, scopeLabels)
	return labels
}

// Labels are the labels of the fields of the form, by the names that errors have.
func (v ChannelForm) Labels() map[string]string {
	labels := map[string]string{"name": "Name"}
	for _, f := range v.Service.Fields {
		labels[f.Name] = f.Label
	}
	return labels
}
