package shortlinks

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/models/shortlinks"
)

// ShortLinkStats are the statistics of a short link.
type ShortLinkStats struct {
	ShortKey      string     `json:"short_key" example:"abc2XYZ" doc:"Short key"`
	Visits        int64      `json:"visits" example:"42" doc:"Total number of visits"`
	Bots          int64      `json:"bots" example:"5" doc:"Total number of requests by bots, which are no visits"`
	Previews      int64      `json:"previews" example:"3" doc:"Total number of HEAD requests, prefetches and link previews, which are no visits"`
	LastVisitedAt *time.Time `json:"last_visited_at" example:"2025-03-24T14:02:00Z" doc:"When it was last visited. null if never"`
	Days          []VisitDay `json:"days" nullable:"false" doc:"Requests by day in UTC, oldest first, without gaps. The last day is today"`
	Devices       Devices    `json:"devices" doc:"Visits by device over these days"`
	Referrers     []Referrer `json:"referrers" nullable:"false" doc:"The 50 hosts that referred most visits"`
}

// VisitDay is the requests of one day.
type VisitDay struct {
	Date     string `json:"date" format:"date" example:"2025-03-24" doc:"Day in UTC"`
	Visits   int64  `json:"visits" example:"10" doc:"Number of visits"`
	Bots     int64  `json:"bots" example:"2" doc:"Number of requests by bots"`
	Previews int64  `json:"previews" example:"1" doc:"Number of HEAD requests, prefetches and link previews"`
	Devices
}

// Devices are visits by device.
type Devices struct {
	Desktop int64 `json:"desktop" example:"6" doc:"Visits from desktop computers"`
	Mobile  int64 `json:"mobile" example:"3" doc:"Visits from phones"`
	Tablet  int64 `json:"tablet" example:"1" doc:"Visits from tablets"`
	Other   int64 `json:"other" example:"0" doc:"Visits from unknown devices and unknown programs"`
}

// Referrer is a referring host.
type Referrer struct {
	Host   *string `json:"host" example:"news.example" doc:"Host of the referrer. null for direct visits and unknown referrers, * for all hosts after the first 200"`
	Visits int64   `json:"visits" example:"7" doc:"Number of visits"`
}

type shortLinkStatsInput struct {
	ShortLinkPath
	Days int `query:"days" default:"30" minimum:"1" maximum:"400" doc:"Number of days to return"`
}

func (a API) shortLinkStats(ctx context.Context, in *shortLinkStatsInput) (*api.Output[ShortLinkStats], error) {
	l, err := a.ShortLinks.Get(ctx, in.Key)
	if err != nil {
		return nil, err
	}
	s, err := a.ShortLinks.Stats(ctx, in.Key, in.Days)
	return api.Answer(ShortLinkStats{
		ShortKey: l.Key, Visits: l.Visits, Bots: l.Bots, Previews: l.Previews, LastVisitedAt: api.Time(l.LastVisitedAt),
		Days: api.All(s.Days, toVisitDay), Devices: toDevices(s.Devices), Referrers: api.All(s.Referrers, toReferrer),
	}, err)
}

func toVisitDay(d shortlinks.Day) VisitDay {
	return VisitDay{
		Date: d.Start.Format(time.DateOnly), Visits: d.Visits(), Bots: d.Bots, Previews: d.Previews, Devices: toDevices(d),
	}
}

func toDevices(d shortlinks.Day) Devices {
	return Devices{Desktop: d.Desktop, Mobile: d.Mobile, Tablet: d.Tablet, Other: d.Other}
}

func toReferrer(r shortlinks.Referrer) Referrer {
	return Referrer{Host: api.OrNull(r.Host), Visits: r.Visits}
}
