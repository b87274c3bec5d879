// Command listing reads a list with an iterator, stops in the middle, and goes on
// later from a stored cursor.
package main

import (
	"context"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
)

const customers = 10

func main() { demo.Main("listing", run) }

func run(ctx context.Context, s *demo.Shop) error {
	for i := range customers {
		_, err := s.Client.Customers.Create(ctx, quickstream.CreateCustomerParams{
			CustomerNumber: fmt.Sprintf("CUST-%02d", i), CustomerName: fmt.Sprintf("Customer %d", i),
		})
		if err != nil {
			return err
		}
	}

	fmt.Println("All customers, whatever the pages:")
	seen := map[string]bool{}
	for customer, err := range s.Client.Customers.List(quickstream.ListCustomersParams{}).All(ctx) {
		if err != nil {
			return err // a page that failed is never the end of the list
		}
		seen[customer.CustomerNumber] = true
	}
	fmt.Printf("   %d\n", len(seen))

	fmt.Println("Two pages, and then an interruption:")
	stored, read, err := twoPages(ctx, s)
	if err != nil {
		return err
	}
	fmt.Printf("   %d customers, and a cursor to store\n", read)

	fmt.Println("Later, perhaps in another process, the rest:")
	for customer, err := range s.Client.Customers.List(quickstream.ListCustomersParams{}).From(quickstream.ParseCursor(stored)).All(ctx) {
		if err != nil {
			return err
		}
		fmt.Printf("   %s\n", customer.CustomerNumber)
		read++
	}
	if len(seen) != customers || read != customers {
		return fmt.Errorf("%d and %d customers were read instead of %d", len(seen), read, customers)
	}
	return nil
}

// twoPages reads two pages and returns where the third begins.
func twoPages(ctx context.Context, s *demo.Shop) (stored string, read int, err error) {
	pages := 0
	for page, err := range s.Client.Customers.List(quickstream.ListCustomersParams{}).Pages(ctx) {
		if err != nil {
			return "", 0, err
		}
		read += len(page.Data)
		if pages++; pages == 2 {
			return page.Next.Text(), read, nil
		}
	}
	return "", 0, fmt.Errorf("the list has %d pages only", pages)
}
