package admin

import "testing"

func TestSchedulePhrase(t *testing.T) {
	for schedule, want := range map[string]string{
		"@every 1m": "every minute", "@every 1h": "every hour", "@every 15m": "every 15 minutes", "@every 90s": "every 90 seconds",
		"@every 24h": "every day", "@every 1500ms": "every 1.5s", "5 4 * * *": "5 4 * * *", "@every soon": "@every soon",
	} {
		if got := schedulePhrase(schedule); got != want {
			t.Errorf("%s: %q, want %q", schedule, got, want)
		}
	}
}
