package clienttest_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDepth follows a payment to the wire: whoever steps through it passes few
// functions of this module on the way.
func TestDepth(t *testing.T) {
	const most = 8
	var ours []string
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		callers := make([]uintptr, 100)
		frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			own := strings.HasPrefix(frame.Function, modulePath+".") || strings.HasPrefix(frame.Function, modulePath+"/")
			if own && !strings.Contains(frame.Function, "/clienttest_test.") {
				ours = append(ours, strings.TrimPrefix(frame.Function, modulePath))
			}
		}
		return answer(http.StatusCreated, approvedBody), nil
	})
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	t.Logf("%d frames:\n%s", len(ours), strings.Join(ours, "\n"))
	assert.LessOrEqual(t, len(ours), most)
	assert.Greater(t, len(ours), 2, "they are counted")
}
