package quickstream_test

import (
	"context"
	"fmt"
)

// Renew a secret key with the key itself, while it is valid.
func ExampleAPIKeysService_Renew() {
	box, client := exampleSandbox()
	defer box.Close()
	before := box.Keys().Secret

	key, err := client.APIKeys.Renew(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	stored := key.Reveal() // where keys are kept, and nowhere else
	fmt.Println(key.Key, stored != before)
	// Output: [redacted] true
}
