package sites

// Limits are the quotas of Google's APIs.
type Limits struct {
	PublishPerDay        int // of a Google project
	MetadataPerMinute    int // of a Google project
	RequestsPerMinute    int // of a Google project: notifications and metadata
	InspectionsPerDay    int // of a property
	InspectionsPerMinute int // of a property
	Concurrency          int // requests under way of a website
}
