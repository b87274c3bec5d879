package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

func TestFacility(t *testing.T) {
	t.Parallel()
	f, err := sandbox.ReadFacility(strings.NewReader(`{"format":1,"host":"localhost","seen":"2030-01-02T03:04:05Z","tool":"1","findings":[
		{"name":"LookupLag","value":"5m"},{"name":"PageSize","value":"20"},
		{"name":"TimeForm","other":"00/00/0000"},{"name":"KeyLifetime","open":"needs -wait 24h"}]}`))
	require.NoError(t, err)
	box := sandbox.New(sandbox.WithFacility(f))
	defer box.Close()
	want := sandbox.DefaultAssumptions()
	require.NoError(t, want.Set("LookupLag", "5m"))
	want.PageSize = 20
	assert.Equal(t, want, box.Assumptions(), "what is open or has another form keeps its default")
	value, found := f.Value("LookupLag")
	assert.True(t, found)
	assert.Equal(t, "5m", value)
	_, found = f.Value("TimeForm")
	assert.False(t, found)
}

func TestFacilityRefuses(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		``:                           "EOF",
		`{"format":2,"findings":[]}`: "another format",
		`{"format":1,"findings":[{"name":"Nonsense","value":"1"}]}`:            "no assumption",
		`{"format":1,"findings":[{"name":"TimeForm","value":"yesterday"}]}`:    "one of",
		`{"format":1,"findings":[{"name":"LookupLag","value":"a fortnight"}]}`: "LookupLag",
	} {
		_, err := sandbox.ReadFacility(strings.NewReader(doc))
		assert.ErrorContains(t, err, want, doc)
	}
}
