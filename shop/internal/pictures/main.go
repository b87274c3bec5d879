// Command pictures takes the pictures of docs/pictures: see .ci/pictures.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color/palette" //nolint:misspell // its name
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/shop/machine"
)

// width of every picture, in pixels.
const width = 1000

// most bytes that a picture has.
const most = 120 << 10

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures SHOP-PROGRAM DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(shop, directory string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := requests(ctx); err != nil {
		return err
	}
	files, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	m, err := machine.Start(ctx, machine.Config{Listen: "127.0.0.1:0", Child: []string{shop, "-child"}, Directory: files, Password: "password", Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	allocator, stop := chromedp.NewExecAllocator(ctx, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("no-proxy-server", true))
	defer stop()
	tab, closeTab := chromedp.NewContext(allocator)
	defer closeTab()
	if err := chromedp.Do(tab); err != nil { // the browser lives as long as the context that starts it
		return err
	}
	v := visitor{tab, m.Origin(), directory}
	return errors.Join(v.sandbox(os.Getenv("SANDBOX")+"/"), v.buys(m), v.office())
}

// visitor goes through the pages as people do.
type visitor struct {
	ctx             context.Context
	shop, directory string
}

func (v visitor) sandbox(page string) error {
	if err := v.do(chromedp.EmulateViewport(width, 600), chromedp.Navigate(page)); err != nil {
		return err
	}
	return errors.Join(v.waitFor("document.querySelector('#state').innerText === 'This page is live.'"), v.picture("sandbox", 960))
}

// buys pays orders: one is approved, one declined, and of one nobody knows for a while.
func (v visitor) buys(m *machine.Machine) error {
	if err := v.pay("beans", "4111111111444496", "declined"); err != nil {
		return err
	}
	m.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	if err := v.pay("cup", "4242424242424242", "unknown"); err != nil {
		return err
	}
	if err := v.order("pot"); err != nil {
		return err
	}
	if err := errors.Join(v.fill("4242424242424242"), v.picture("shop-checkout", 700), v.press("#pay-button"), v.becomes("approved")); err != nil {
		return err
	}
	return v.picture("shop-paid", 480)
}

// office logs in to the console, where the three orders are.
func (v visitor) office() error {
	if err := errors.Join(v.do(chromedp.Navigate(v.shop+"/office/")), v.waitFor("document.querySelector('#password')"),
		v.do(chromedp.SendKeys(chromedp.CSS("#name"), "Robin"), chromedp.SendKeys(chromedp.CSS("#password"), "password")),
		v.press("form[action='/office/login'] button"), v.waitFor("document.querySelectorAll('#rows tbody tr').length === 3")); err != nil {
		return err
	}
	return v.picture("console", 604)
}

func (v visitor) order(item string) error {
	return errors.Join(v.do(chromedp.Navigate(v.shop+"/")), v.press(`form:has(input[value="`+item+`"]) button`), v.waitFor("document.querySelector('#pay-button')"))
}

func (v visitor) pay(item, card, state string) error {
	if err := v.order(item); err != nil {
		return err
	}
	return errors.Join(v.fill(card), v.press("#pay-button"), v.becomes(state))
}

func (v visitor) becomes(state string) error {
	return v.waitFor(fmt.Sprintf("document.querySelector('#status')?.dataset.state === %q", state))
}

func (v visitor) fill(number string) error {
	for _, field := range [][2]string{{"#cardholder", "A Customer"}, {"#number", number}, {"#month", "12"}, {"#year", "99"}, {"#cvn", "837"}} {
		if err := v.do(chromedp.SendKeys(chromedp.CSS(field[0]), field[1])); err != nil {
			return err
		}
	}
	return nil
}

func (v visitor) press(selector string) error { return v.do(chromedp.Click(chromedp.CSS(selector))) }

func (v visitor) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(v.ctx, time.Minute)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// waitFor waits until a condition holds in the page. A page that is being left has none.
func (v visitor) waitFor(condition string) error {
	ctx, cancel := context.WithTimeout(v.ctx, time.Minute)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+condition+") && document.readyState === 'complete'")); err == nil && is {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not come true: %s", condition)
		case <-tick.C:
		}
	}
}

// picture writes what a window of this height shows, in 256 colours.
func (v visitor) picture(name string, height int64) error {
	if err := v.do(chromedp.EmulateViewport(width, height), chromedp.Evaluate[chromedp.Void]("document.activeElement?.blur(); scrollTo(0, 0); undefined")); err != nil {
		return err
	}
	shot, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return err
	}
	few := image.NewPaletted(full.Bounds(), palette.Plan9)
	draw.Draw(few, few.Bounds(), full, full.Bounds().Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		return err
	}
	if out.Len() > most {
		return fmt.Errorf("%s has %d bytes, more than %d", name, out.Len(), most)
	}
	return os.WriteFile(filepath.Join(v.directory, name+".png"), out.Bytes(), 0o644) //nolint:gosec // a picture is for everybody
}
