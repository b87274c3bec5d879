// Package browsertest holds the tests of the shop in a browser. They need Chromium, and
// are left out without one unless SHOP_BROWSER is "required". SHOP_PICTURES names a
// directory for pictures of the pages.
package browsertest
