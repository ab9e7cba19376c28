package handlers

import (
	"cmp"
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// gatherers returns the metrics of a registry and the samples of systems. Their names must differ. prometheus.Gatherers
// would check each sample, which takes most of the time of a scrape.
func gatherers(registry prometheus.Gatherer, systems []System) prometheus.GathererFunc {
	all := []prometheus.Gatherer{registry}
	for _, s := range systems {
		if s.Samples != nil {
			all = append(all, s.Samples)
		}
	}
	return func() (families []*dto.MetricFamily, err error) {
		for _, g := range all {
			some, failed := g.Gather()
			families, err = append(families, some...), errors.Join(err, failed)
		}
		slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
		return families, err
	}
}
