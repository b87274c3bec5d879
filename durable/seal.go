package durable

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
)

// sealedPrefix begins a sealed text, which plain JSON never does.
const sealedPrefix = "sealed:"

var errUnseal = errors.New("durable: the stored text cannot be unsealed")

// seal encrypts a stored text with the merchant's AEAD. The id of its row is authenticated, so that
// texts of two rows cannot be exchanged.
func (e *engine) seal(text, id string) (string, error) {
	if e.aead == nil {
		return text, nil
	}
	nonce := make([]byte, e.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	return sealedPrefix + base64.StdEncoding.EncodeToString(e.aead.Seal(nonce, nonce, []byte(text), []byte(id))), nil
}

// unseal decrypts a stored text. One that was stored before the merchant sealed is returned as it is.
func (e *engine) unseal(text, id string) (string, error) {
	encoded, sealed := strings.CutPrefix(text, sealedPrefix)
	if !sealed {
		return text, nil
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || e.aead == nil || len(data) < e.aead.NonceSize() {
		return "", errUnseal
	}
	plain, err := e.aead.Open(nil, data[:e.aead.NonceSize()], data[e.aead.NonceSize():], []byte(id))
	if err != nil {
		return "", errUnseal
	}
	return string(plain), nil
}
