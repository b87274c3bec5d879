package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// verifyByHand is what a merchant writes for the form of header and signature
// that the comparison uses.
func verifyByHand(header string, body []byte) error {
	timestamp, value := "", ""
	for part := range strings.SplitSeq(header, ",") {
		switch name, text, _ := strings.Cut(part, "="); name {
		case "t":
			timestamp = text
		case "v1":
			value = text
		}
	}
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.UnixMilli(ms)).Abs() > 5*time.Minute {
		return errors.New("too old")
	}
	got, err := hex.DecodeString(value)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), got) {
		return errors.New("wrong signature")
	}
	return nil
}
