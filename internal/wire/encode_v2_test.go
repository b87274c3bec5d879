//go:build go1.27 && goexperiment.jsonv2

package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEncodeJudgesMethods: what a method writes is refused as any text is.
func TestEncodeJudgesMethods(t *testing.T) {
	for _, value := range []any{raw{"\"Ann\xff\""}, map[string]any{"a": raw{"{\"Ann\xff\":1}"}}, []any{badText{}}} {
		body, err := Encode(value)
		assert.Equal(t, errValue, err)
		assert.Empty(t, body)
	}
}

type badText struct{}

func (badText) MarshalText() ([]byte, error) { return []byte("Ann\xff"), nil }
