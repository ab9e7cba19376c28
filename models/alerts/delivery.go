package alerts

import (
	"linkwatch/models"
)

// Reason is why a message is sent.
type Reason string

// The reasons.
const (
	ReasonFired     Reason = "fired"
	ReasonWorse     Reason = "worse" // more severe, or new subjects
	ReasonRepeated  Reason = "repeated"
	ReasonEscalated Reason = "escalated" // not acknowledged in time
	ReasonResolved  Reason = "resolved"
)

// DeliveryStatus is the status of a message.
type DeliveryStatus string

// The statuses.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed" // retried for RetryPeriod, or the channel no longer exists at the service
)

// Delivery is a message in the queue of a channel.
type Delivery struct {
	Seq         int64  `gorm:"primaryKey"`
	ID          string // sent with the message; a retry after a crash has the same ID
	AlertSeq    int64
	ChannelSeq  int64
	Reason      Reason
	Status      DeliveryStatus
	Body        string // Notification as JSON
	CreatedAt   models.Time
	DeliveredAt models.Time
	NextAt      models.Time // if set, it is sent after all others, not before this time; zero for normal order
	Attempts    int
	LastError   string

	ChannelID string `gorm:"->"` // set by DeliveriesOf only
}
