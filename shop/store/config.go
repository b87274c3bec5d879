// Package store is a merchant's shop: pages, orders and payments in one program on one
// SQLite file. It is written to be copied. It knows the address of the payment service,
// its keys and nothing else of it, so that the sandbox of this repository and the real
// service are the same to it, apart from the script that takes the card in the
// browser: see static/checkout.js.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Config is what the shop is told about its surroundings.
type Config struct {
	// Database is the path of the SQLite file. It is made where there is none.
	Database string
	// Service is the origin of the payment service, such as https://api.example.com,
	// and Business the code of the merchant's business there.
	Service  string
	Business string
	// Origin is where customers reach the shop.
	Origin string
	// SecretKey, PublishableKey and WebhookKey are the merchant's at the service. The
	// second is shown to every browser.
	SecretKey, PublishableKey, WebhookKey string
	// Password is that of the back office.
	Password string
	// Clock is an address that tells the time that the service lives by, as
	// {"now": "2030-01-02T03:04:05Z"}. It is for a sandbox whose clock is moved; without
	// it the shop goes by this machine's clock.
	Clock string
	// Bank is the address of the payer's banking app, for a sandbox that has one.
	Bank string
	// Traces is a file to write spans into, as lines of JSON; none unless it is given.
	Traces string
	// Listen is the address to listen on; a free loopback port unless it is given.
	Listen string
}

// ConfigFromEnv reads the configuration from the environment, from SHOP_DB and others.
func ConfigFromEnv() (Config, error) {
	c := Config{
		Database: os.Getenv("SHOP_DB"), Service: os.Getenv("SHOP_SERVICE"), Origin: os.Getenv("SHOP_ORIGIN"),
		Business:  cmp.Or(os.Getenv("SHOP_BUSINESS"), "SANDBOX01"),
		SecretKey: os.Getenv("SHOP_SECRET_KEY"), PublishableKey: os.Getenv("SHOP_PUBLISHABLE_KEY"), WebhookKey: os.Getenv("SHOP_WEBHOOK_KEY"),
		Password: os.Getenv("SHOP_PASSWORD"), Clock: os.Getenv("SHOP_CLOCK"), Bank: os.Getenv("SHOP_BANK"), Listen: os.Getenv("SHOP_LISTEN"),
		Traces: os.Getenv("SHOP_TRACES"),
	}
	return c, c.check()
}

func (c Config) check() error {
	var missing []error
	for name, value := range map[string]string{
		"SHOP_DB": c.Database, "SHOP_SERVICE": c.Service, "SHOP_ORIGIN": c.Origin, "SHOP_SECRET_KEY": c.SecretKey,
		"SHOP_PUBLISHABLE_KEY": c.PublishableKey, "SHOP_WEBHOOK_KEY": c.WebhookKey, "SHOP_PASSWORD": c.Password,
	} {
		if value == "" {
			missing = append(missing, fmt.Errorf("%s is not set", name))
		}
	}
	// The two origins become part of the policy of every page.
	for name, origin := range map[string]string{"SHOP_SERVICE": c.Service, "SHOP_ORIGIN": c.Origin} {
		if u, err := url.Parse(origin); err != nil || origin != "" && u.Scheme+"://"+u.Host != origin {
			missing = append(missing, fmt.Errorf("%s is not an origin, such as https://example.com", name))
		}
	}
	return errors.Join(missing...)
}
