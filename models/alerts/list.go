package alerts

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// List is a list of names or ids, stored as JSON.
type List []string

// Value implements driver.Valuer.
func (l List) Value() (driver.Value, error) {
	if l == nil {
		l = List{}
	}
	b, err := json.Marshal([]string(l))
	return string(b), err
}

// Scan implements sql.Scanner.
func (l *List) Scan(src any) error {
	var b []byte
	switch v := src.(type) {
	case string:
		b = []byte(v)
	case []byte:
		b = v
	default:
		return fmt.Errorf("a list column holds %T, want JSON", src)
	}
	*l = nil
	return json.Unmarshal(b, (*[]string)(l))
}

// GormDataType implements GORM's GormDataTypeInterface.
func (List) GormDataType() string { return "text" }
