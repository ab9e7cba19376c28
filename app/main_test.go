package app

import (
	"testing"

	"linkwatch/models/modelstest"
)

func TestMain(m *testing.M) { modelstest.Main(m) }
