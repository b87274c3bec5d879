package quickstream_test

import (
	"context"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// List the merchant's businesses, whose codes payments need.
func ExampleBusinessesService_List() {
	box, client := exampleSandbox(sandbox.WithBusiness("SHOP", "Shop"))
	defer box.Close()

	for business, err := range client.Businesses.List().All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(business.SupplierBusinessCode)
	}
	// Unordered output:
	// SANDBOX01
	// SHOP
}

// Get returns one business.
func ExampleBusinessesService_Get() {
	box, client := exampleSandbox(sandbox.WithBusiness("SHOP", "Shop"))
	defer box.Close()

	business, err := client.Businesses.Get(context.Background(), "SHOP")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(business.SupplierBusinessName)
	// Output: Shop
}

// surcharging has a business with a surcharge on Visa cards.
func surcharging() sandbox.Option {
	return sandbox.WithBusiness("SHOP", "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110})
}

// surchargeOf finds the surcharge on a scheme's cards.
func surchargeOf(list quickstream.List[quickstream.CardSurcharge], scheme quickstream.CardScheme) string {
	for surcharge, err := range list.All(context.Background()) {
		if err != nil {
			return err.Error()
		}
		if surcharge.CardScheme == scheme {
			return surcharge.SurchargePercentage + " %"
		}
	}
	return "not accepted"
}

// Show the surcharge before the customer pays.
func ExampleBusinessesService_CardSurcharges() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	fmt.Println(surchargeOf(client.Businesses.CardSurcharges("SHOP"), quickstream.CardSchemeVisa))
	// Output: 1.10 %
}

// The same with the publishable key.
func ExampleBusinessesService_PublicCardSurcharges() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	fmt.Println(surchargeOf(client.Businesses.PublicCardSurcharges("SHOP"), quickstream.CardSchemeVisa))
	// Output: 1.10 %
}

// Show the surcharge of one card before the payment.
func ExampleBusinessesService_QueryCardSurcharge() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	surcharge, err := client.Businesses.QueryCardSurcharge(context.Background(), "SHOP", quickstream.NewSecret("4242424242424242"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(surcharge.CardScheme, surcharge.CardType, surcharge.SurchargePercentage, "%")
	// Output: VISA CREDIT 1.10 %
}

// Show the logos of the cards that a business accepts.
func ExampleBusinessesService_AcceptedCards() {
	box, client := exampleSandbox()
	defer box.Close()

	for card, err := range client.Businesses.AcceptedCards(sandbox.DefaultBusiness).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(card.CardScheme)
	}
	// Output:
	// VISA
	// MASTERCARD
	// AMEX
	// DINERS
	// JCB
	// UNIONPAY
}

// Six digits show the scheme while the customer types the rest.
func ExampleBusinessesService_CardScheme() {
	box, client := exampleSandbox()
	defer box.Close()

	prefix, err := client.Businesses.CardScheme(context.Background(), "340000")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prefix.CardScheme)
	// Output: AMEX
}
