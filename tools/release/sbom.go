package main

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// writeSBOM writes the modules that the program contains, with their versions and hashes, as CycloneDX. The serial
// number comes from the program, so that it is reproducible too.
func (s source) writeSBOM(p program, out string) error {
	generator, err := bin.NewGenerator(p.path, bin.WithIncludeStdlib(true), bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return err
	}
	bom, err := generator.Generate()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	bom.SerialNumber = uuid.NewSHA1(uuid.Nil, sum[:]).URN()
	bom.Metadata.Timestamp = s.date.Format(time.RFC3339)
	return writeFile(filepath.Join(out, s.name(p.String())+".cdx.json"), func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}
