//go:build go1.27 && goexperiment.jsonv2

package main

import (
	"encoding/json/v2"
	"io"
)

// onV2 says whether encoding/json runs on encoding/json/v2, which can then be called directly.
const onV2 = true

func unmarshalV2(body []byte, into any) error { return json.Unmarshal(body, into) }

func readV2(body io.Reader, into any) error { return json.UnmarshalRead(body, into) }
