package links

import (
	"strings"

	"linkwatch/models/links"
)

// LinkPath names a link.
type LinkPath struct {
	ID string `path:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

// TagPath names a tag.
type TagPath struct {
	TagID string `path:"tag_id" example:"g_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the tag"`
}

// LinkTagPath names a tag on a link.
type LinkTagPath struct {
	LinkPath
	TagPath
}

// ShownParam chooses links by their expiry.
type ShownParam struct {
	Expired string `query:"expired" enum:"true,recent,all,false" example:"all" doc:"true lists expired links, recent those that expired in the last 7 days, all active and expired ones. Only active links if it is left out"`
}

// FilterParams choose links.
type FilterParams struct {
	ShownParam
	Health string `query:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"dead" doc:"Health: ok, moved, blocked, suspect, dead or unchecked"`
	Tag    string `query:"tag" example:"Go" doc:"Name of a tag, ignoring case. At most 512 bytes"`
}

func (p FilterParams) filter() (links.Filter, error) {
	shown, err := links.ParseShown(p.Expired)
	if err != nil {
		return links.Filter{}, err
	}
	health, err := links.ParseHealth(p.Health)
	if err != nil {
		return links.Filter{}, err
	}
	return links.Filter{Tag: p.Tag, Health: health, Shown: shown}, nil
}

// tagNames splits a field of tags at its commas.
func tagNames(typed string) []string {
	var names []string
	for name := range strings.SplitSeq(typed, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
