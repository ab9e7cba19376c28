package alerts

import (
	"linkwatch/models"
)

// Reason is why a message is sent.
type Reason string

// The reasons.
const (
	FirstTime  Reason = "fired"
	Worsening  Reason = "worse" // it is more severe than before
	Repeating  Reason = "repeated"
	Escalating Reason = "escalated" // it was not acknowledged in time
	Resolving  Reason = "resolved"
)

// DeliveryStatus is what became of a message.
type DeliveryStatus string

// The statuses.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed" // it was tried for DeliverFor, or its channel takes nothing any more
)

// Delivery is a message to a channel.
type Delivery struct {
	Seq         int64  `gorm:"primaryKey"`
	ID          string // which the channel gets: an attempt that is repeated after a crash has the same
	AlertSeq    int64
	ChannelSeq  int64
	Reason      Reason
	Status      DeliveryStatus
	Body        string // a Notification, JSON
	CreatedAt   models.Time
	DeliveredAt models.Time
	NextAt      models.Time // when it is tried again, after others; zero = in its turn
	Attempts    int
	LastError   string

	ChannelID string `gorm:"->"` // where a list was asked for
}
