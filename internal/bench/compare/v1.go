//go:build !go1.27 || !goexperiment.jsonv2

package main

import (
	"errors"
	"io"
)

// onV2 says whether encoding/json runs on encoding/json/v2, which can then be called directly.
const onV2 = false

func unmarshalV2([]byte, any) error { return errors.ErrUnsupported }

func readV2(io.Reader, any) error { return errors.ErrUnsupported }
