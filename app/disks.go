package app

import (
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/disk"
)

// databaseFolder returns the folder of the database file. It is "" for PostgreSQL and for databases in memory.
func databaseFolder(cfg config.Config) string {
	file := databaseFile(cfg)
	if file == "" {
		return ""
	}
	return filepath.Dir(models.RealFile(file))
}

var (
	diskFree = prometheus.NewDesc("linkwatch_disk_free_bytes", "Free space on a disk that the program writes to.", []string{"of"}, nil)
	diskSize = prometheus.NewDesc("linkwatch_disk_size_bytes", "Size of a disk that the program writes to.", []string{"of"}, nil)
)

// diskMetrics collects the space on disks at each scrape.
type diskMetrics struct{ look disk.Look }

// Describe implements prometheus.Collector.
func (m diskMetrics) Describe(all chan<- *prometheus.Desc) {
	all <- diskFree
	all <- diskSize
}

// Collect implements prometheus.Collector.
func (m diskMetrics) Collect(all chan<- prometheus.Metric) {
	for _, s := range m.look() {
		all <- prometheus.MustNewConstMetric(diskFree, prometheus.GaugeValue, float64(s.Free), s.Of)
		all <- prometheus.MustNewConstMetric(diskSize, prometheus.GaugeValue, float64(s.Size), s.Of)
	}
}
