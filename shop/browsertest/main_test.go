package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/quickstream-go/quickstream/shop/machine"
	"github.com/quickstream-go/quickstream/shop/store"
)

// childVariable makes this program the shop's.
const childVariable = "SHOP_TEST_CHILD"

// browser is what all tests share: each has a context in it, with cookies and a cache of
// its own. It is nil where there is none.
var browser context.Context

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	required := os.Getenv("SHOP_BROWSER") == "required"
	end, err := startBrowser()
	switch {
	case err != nil && required:
		fmt.Fprintln(os.Stderr, "SHOP_BROWSER is required, and there is none:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "LEFT OUT: the shop's tests in a browser did not run:", err)
	}
	code := m.Run()
	end()
	os.Exit(code)
}

func child() int {
	config, err := store.ConfigFromEnv()
	if err == nil {
		err = store.Run(machine.UntilStdinEnds(context.Background()), config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func startBrowser() (end func(), err error) {
	nothing := func() {}
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nothing, err
	}
	profile, err := os.MkdirTemp("", "shop-browser-")
	if err != nil {
		return nothing, err
	}
	flag := chromedp.Flag
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.ExecPath(program), chromedp.UserDataDir(profile),
		chromedp.NoSandbox, chromedp.DisableGPU, flag("disable-quic", true), flag("disable-background-networking", true),
		flag("disable-component-update", true), flag("disable-sync", true), flag("disable-dev-shm-usage", true),
		flag("disable-extensions", true), flag("password-store", "basic"), flag("no-proxy-server", true),
		// Names are looked up nowhere.
		flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"))
	ctx, cancel := chromedp.NewContext(allocator)
	end = func() {
		cancel()
		stop()
		_ = os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nothing, err
	}
	browser = ctx
	return end, nil
}
