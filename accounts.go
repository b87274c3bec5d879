package quickstream

import (
	"cmp"
	"context"
)

// AccountsService has the operations on accounts that are registered for customers.
type AccountsService struct{ client *Client }

// RegisterAccountParams describes the account to register, by exactly one of its first five members.
type RegisterAccountParams struct {
	// SingleUseTokenID is an unused single-use token, which is used up.
	SingleUseTokenID string
	// ReceiptNumber is that of a transaction whose account can be stored.
	ReceiptNumber string
	// Card is creditCard; one with a Cryptogram is refused.
	Card        *CardDetails
	BankAccount *BankAccountDetails
	// NZBankAccount has members that are inferred from those of tokens; unconfirmed.
	NZBankAccount *NZBankAccountDetails
	// ThreeDS2 is true if the card of a single-use token was authenticated with 3D Secure.
	// Optional.
	ThreeDS2 *bool
}

type accountRegisterJSON struct {
	SingleUseTokenID string             `json:"singleUseTokenId,omitempty"`
	ReceiptNumber    string             `json:"receiptNumber,omitempty"`
	CreditCard       *cardJSON          `json:"creditCard,omitempty"`
	BankAccount      *bankAccountJSON   `json:"bankAccount,omitempty"`
	NZBankAccount    *nzBankAccountJSON `json:"nzBankAccount,omitempty"`
	ThreeDS2         *bool              `json:"threeDS2,omitempty"`
}

func (b accountRegisterJSON) check(f *findings) {
	sources := count(b.SingleUseTokenID != "", b.ReceiptNumber != "", b.CreditCard != nil, b.BankAccount != nil, b.NZBankAccount != nil)
	f.require(sources == 1, "account.source.required", "(account)",
		"exactly one of a single-use token, a receipt number, a card and a bank account is required")
	if b.CreditCard != nil {
		f.within("creditCard", b.CreditCard.check)
	}
}

// Register registers an account for a customer, for payments by its account token.
//
// POST /customers/{customerId}/accounts. The specification does not show the answer: if
// AccountToken is empty, and after an [UnknownOutcomeError], find the account with
// [AccountsService.List]. Add unpublished members with [WithExtraField]. A used or expired token
// matches [ErrInvalid] or [ErrNotFound].
func (s *AccountsService) Register(ctx context.Context, customerID string, params RegisterAccountParams, opts ...CallOption) (*Account, error) {
	call := s.client.begin("Accounts.Register", opts, customerID)
	body := accountRegisterJSON{
		params.SingleUseTokenID, params.ReceiptNumber, params.Card.wire(), params.BankAccount.wire(), params.NZBankAccount.wire(), params.ThreeDS2,
	}
	call.check(func(f *findings) {
		f.require(params.Card == nil || params.Card.Cryptogram.IsZero(), "account.cryptogram.none", "(cryptogram)", "is for payments only")
		body.check(f)
	})
	call.body = body
	account := new(Account)
	err := call.do(ctx, func(_ int, answer []byte) error {
		if len(answer) == 0 {
			return nil
		}
		return cmp.Or(decodeOwned(answer, account), body.fits(account, customerID))
	})
	if err != nil {
		return nil, err
	}
	return account, nil
}

// fits refuses an account of another customer, kind or card. For a wallet's number the service may
// show the card's own number.
func (b accountRegisterJSON) fits(account *Account, customerID string) error {
	kind, number := AccountType(""), ""
	switch {
	case b.CreditCard != nil && b.CreditCard.WalletProvider == "":
		kind, number = AccountTypeCreditCard, b.CreditCard.CardNumber
	case b.BankAccount != nil:
		kind = AccountTypeDirectDebit
	case b.NZBankAccount != nil:
		kind = AccountTypeDirectDebitNZ
	}
	if account.CustomerID != "" && !sameText(account.CustomerID, customerID) ||
		!fitsAccount(kind, number, account.AccountType, account.CardNumber, account.MaskedCardNumber4Digits) {
		return errNotAsked
	}
	return nil
}

// RegisterWithoutCustomer registers the account of a single-use token without a customer, for
// payments by its account token. From public client code; unconfirmed.
//
// POST /accounts. Errors as for Register. No list shows the account. After an [UnknownOutcomeError]
// it may exist, but nothing can pay with it without its token: ask the payer for another single-use
// token. For a card that was authenticated add [WithExtraField] with "threeDS2" and true.
func (s *AccountsService) RegisterWithoutCustomer(ctx context.Context, singleUseTokenID string, opts ...CallOption) (*Account, error) {
	call := s.client.begin("Accounts.RegisterWithoutCustomer", opts)
	call.check(accountRegisterJSON{SingleUseTokenID: singleUseTokenID}.check)
	call.body = struct { // without threeDS2, so that WithExtraField can add it
		SingleUseTokenID string `json:"singleUseTokenId"`
	}{singleUseTokenID}
	return send[Account](ctx, call)
}

// List returns the enabled accounts of a customer, newest first. An account that shows another
// customer matches [ErrUnreadableItem].
//
// GET /customers/{customerId}/accounts. An unknown customer matches [ErrNotFound]; unconfirmed.
// From the vendor's public pages.
func (s *AccountsService) List(customerID string, opts ...CallOption) List[Account] {
	return list[Account](s.client, "Accounts.List", nil, nil, opts, customerID).ofParent(customerID, func(a *Account) string { return a.CustomerID })
}

// Get returns an account.
//
// GET /accounts/{accountToken}. An unknown token matches [ErrNotFound]. From the vendor's public
// pages.
func (s *AccountsService) Get(ctx context.Context, accountToken string, opts ...CallOption) (*Account, error) {
	return get[Account](ctx, s.client, "Accounts.Get", opts, accountToken)
}

// Account is a registered account, with the common members and those of its kind. Only AccountToken
// and AccountType are confirmed; the others are from public client code.
type Account struct {
	// AccountToken identifies the account in payments. Store it.
	AccountToken string      `json:"accountToken,omitempty" wire:"identifies"`
	AccountType  AccountType `json:"accountType,omitempty" wire:"decides"`
	CustomerID   string      `json:"customerId,omitempty" wire:"identifies"`
	// DefaultAccount marks the account that [FromCustomer] uses.
	DefaultAccount bool     `json:"defaultAccount,omitempty"`
	DisplayName    string   `json:"displayName,omitempty"`
	Currency       Currency `json:"currency,omitempty"`

	// Of a card.
	MaskedCard
	PANType        string         `json:"panType,omitempty"`
	WalletProvider WalletProvider `json:"walletProvider,omitempty"`
	// Of a bank account.
	MaskedBankAccount
	MaskedNZBankAccount

	Links []Link `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads an account.
func (a *Account) UnmarshalJSON(data []byte) error { return decode(data, a) }

// MarshalJSON writes the account with its unknown members.
func (a Account) MarshalJSON() ([]byte, error) {
	type plain Account
	return encode(plain(a), a.envelope)
}

func (a *Account) identifier() string { return a.AccountToken }
