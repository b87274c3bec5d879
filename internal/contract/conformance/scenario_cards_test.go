package conformance

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

type object = map[string]any

const (
	visa       = "4242424242424242"
	mastercard = "5163200000000008"
	softly     = "4111111117444490" // declined, and worth another try
	payerIP    = "203.0.113.7"
)

func (s *stage) connect() {
	must(s.client.Root(s.Context()))(s)
	s.check(s.client.Check(s.Context()))
	s.send(http.StatusOK, "GET", "/", nil, "Authorization", basic(s.box.Keys().Publishable))
}

func (s *stage) customers() *quickstream.Customer {
	address := &quickstream.Address{Street1: "1 High Street", Street2: "Level 2", Street3: "Rear", City: "Sydney", State: "NSW", Postcode: "2000", Country: "AU"}
	customer := must(s.client.Customers.Create(s.Context(), quickstream.CreateCustomerParams{
		CustomerNumber: "C-1", CustomerName: "Sam Sample", SupplierBusinessCode: shop, PhoneNumber: "+61400000000",
		EmailAddress: "sam@example.com", PreferredNotificationMedium: quickstream.NotificationMediumEmail, Address: address,
	}))(s)
	for _, number := range []string{"C-2", "C-3", "C-4"} { // more than a page
		must(s.client.Customers.Create(s.Context(), quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: "Kim Lee"}))(s)
	}
	s.send(http.StatusUnprocessableEntity, "POST", "/customers", object{"customerNumber": "C-1", "customerName": "Sam"})
	must(s.client.Customers.Get(s.Context(), customer.CustomerID))(s)
	all(s, s.client.Customers.List(quickstream.ListCustomersParams{}))
	all(s, s.client.Customers.List(quickstream.ListCustomersParams{CustomerNumber: "C-1", CustomerName: "Sam", EmailAddress: "sam@"}))
	for _, enabled := range []bool{false, true} {
		must(s.client.Customers.Update(s.Context(), customer.CustomerID, quickstream.UpdateCustomerParams{Enabled: &enabled}))(s)
	}
	return customer
}

func cardDetails(number string) quickstream.CardDetails {
	return quickstream.CardDetails{
		CardholderName: "Sam Sample", CardNumber: quickstream.NewSecret(number), CVN: quickstream.NewSecret("123"),
		Expiry: quickstream.YearMonth{Year: 2031, Month: time.February},
	}
}

func bankAccount(bsb string) quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Sam Sample", BSB: bsb, AccountNumber: quickstream.NewSecret("999994")}
}

func nzBankAccount() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{
		AccountName: "Sam Sample", BankCode: "03", BranchCode: "0123", AccountNumber: quickstream.NewSecret("0034141"), AccountSuffix: "03",
	}
}

// kept are the tokens of stored accounts.
type kept struct{ card, bank, nz string }

// accounts stores an account of each kind, in every way.
func (s *stage) accounts(customer *quickstream.Customer) kept {
	register := func(account quickstream.RegistrationSource) string {
		made := must(s.client.Accounts.Register(s.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Source: account}))(s)
		return must(s.client.Accounts.Get(s.Context(), made.AccountToken))(s).AccountToken
	}
	wallet := cardDetails(visa)
	wallet.WalletProvider, wallet.Cryptogram = quickstream.WalletProviderApplePay, quickstream.NewSecret("AAAA")
	register(quickstream.RegistrationFromSingleUseToken(s.token(cardDetails(mastercard)).SingleUseTokenID))
	alone := must(s.client.Accounts.RegisterWithoutCustomer(s.Context(), s.token(cardDetails(visa)).SingleUseTokenID))(s)
	must(s.client.Accounts.Get(s.Context(), alone.AccountToken))(s)
	register(quickstream.RegistrationFromReceipt(s.pay("wallet", quickstream.FromCard(wallet)).ReceiptNumber))
	accounts := kept{
		card: register(quickstream.RegistrationFromCard(cardDetails(visa))),
		bank: register(quickstream.RegistrationFromBankAccount(bankAccount("032-002"))),
		nz:   register(quickstream.RegistrationFromNZBankAccount(nzBankAccount())),
	}
	all(s, s.client.Accounts.List(customer.CustomerID))
	s.refused(http.StatusUnprocessableEntity, "POST", "/customers/"+customer.CustomerID+"/accounts", object{})
	s.check(s.box.Portal(accounts.card, sandbox.MakeAccountDefault))
	return accounts
}

func (s *stage) token(account quickstream.TokenAccount, profile ...*quickstream.BrowserProfile) *quickstream.SingleUseToken {
	params := quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: shop, Account: account}
	for _, p := range profile {
		params.ThreeDS = p
	}
	return must(s.client.SingleUseTokens.Create(s.Context(), params))(s)
}

func (s *stage) tokens() {
	s.token(bankAccount("032-002"))
	s.token(nzBankAccount())
	s.refused(http.StatusUnprocessableEntity, "POST", "/single-use-tokens", object{"accountType": "CREDIT_CARD", "cardNumber": "1"})
}

func browser() *quickstream.BrowserProfile {
	return &quickstream.BrowserProfile{JavaEnabled: true, Language: "en-AU", ScreenHeight: 1080, ScreenWidth: 1920, ColorDepth: 24, TZ: -600}
}

func (s *stage) authentication() {
	params := quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment, PrincipalAmount: new(decimal.New(1050, -2)),
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 High Street", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	}
	for _, number := range []string{visa, sandbox.CardChallenge, sandbox.CardAttempted, sandbox.CardRejected} {
		token := s.token(cardDetails(number), browser()).SingleUseTokenID
		must(s.client.SingleUseTokens.Authenticate(s.Context(), token, params))(s)
		s.refused(http.StatusUnprocessableEntity, "POST", "/single-use-tokens/"+token+"/three-ds2-authentication", object{"messageCategory": "03"})
		if number == visa {
			s.pay("3DS", quickstream.FromSingleUseToken(token), func(p *quickstream.PayParams) { p.ThreeDS2 = new(true) })
		}
	}
	old := must(s.client.SingleUseTokens.Create(s.Context(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: withoutThreeDS, Account: cardDetails(visa), ThreeDS: browser(),
	}))(s)
	if _, err := s.client.SingleUseTokens.Authenticate(s.Context(), old.SingleUseTokenID, params); !errors.Is(err, quickstream.ErrThreeDSNotEnabled) {
		s.Errorf("without 3D Secure: %v", err)
	}
}

// pay takes 10.50 from any source.
func (s *stage) pay(order string, source quickstream.AccountSource, edits ...func(*quickstream.PayParams)) *quickstream.Transaction {
	s.Helper()
	params := quickstream.PayParams{
		SupplierBusinessCode: shop, Source: source, PrincipalAmount: decimal.New(1050, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr(payerIP),
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: "C-1", PaymentReferenceNumber: order, Comment: "a comment", Metadata: map[string]string{"order": order},
	}
	for _, edit := range edits {
		edit(&params)
	}
	return answered(s.client.Transactions.Pay(s.Context(), params))(s)
}

// answered returns the transaction of an answer, however it ended.
func answered(tx *quickstream.Transaction, err error) func(*stage) *quickstream.Transaction {
	if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
		return must(declined.Transaction, nil)
	}
	if pending, ok := errors.AsType[*quickstream.PendingError](err); ok {
		return must(pending.Transaction, nil)
	}
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && lost.Transaction != nil {
		return must(lost.Transaction, nil)
	}
	return must(tx, err)
}

func noCard(p *quickstream.PayParams) { p.ECI, p.StoredCredential = "", nil }

func inNZD(p *quickstream.PayParams) { p.Currency = quickstream.CurrencyNZD }

func (s *stage) payments(customer *quickstream.Customer, accounts kept) {
	s.pay("token", quickstream.FromSingleUseToken(s.token(cardDetails(visa)).SingleUseTokenID))
	s.pay("customer", quickstream.FromCustomer(customer.CustomerID))
	all := &values{source: readSource(s.T), fields: map[string]bool{}, from: map[string]string{}}
	s.pay("account", quickstream.FromAccount(accounts.card), func(p *quickstream.PayParams) {
		*p = fill(all, func(f *quickstream.PayParams) { // every field, a new one too
			f.SupplierBusinessCode, f.Source, f.PrincipalAmount, f.ThreeDS2 = shop, p.Source, p.PrincipalAmount, nil
			f.CustomerReferenceNumber, f.PaymentReferenceNumber = p.CustomerReferenceNumber, p.PaymentReferenceNumber
			f.MPGSData = map[string]any{"agreementId": "M-1"}
		})
	})
	s.pay("bank", quickstream.FromAccount(accounts.bank), noCard)
	s.pay("bank", quickstream.FromBankAccount(bankAccount("032-002")), noCard)
	s.pay("returned", quickstream.FromBankAccount(bankAccount("032-051")), noCard)
	s.pay("nz", quickstream.FromAccount(accounts.nz), noCard, inNZD)
	s.pay("nz", quickstream.FromNZBankAccount(nzBankAccount()), noCard, inNZD)
	for order, outcome := range map[string]sandbox.Outcome{
		"declined": sandbox.Declined("51"), "erred": sandbox.Erred(), "rejected": sandbox.Rejected("QA"), "suspended": sandbox.Suspended(),
	} {
		s.box.NextTransaction(outcome)
		s.pay(order, quickstream.FromCard(cardDetails(visa)))
	}
	s.pay("soft", quickstream.FromCard(cardDetails(softly)))
	s.refused(http.StatusUnprocessableEntity, "POST", "/transactions", object{"transactionType": "PAYMENT", "principalAmount": "1"})
	s.refused(http.StatusUnprocessableEntity, "POST", "/transactions", object{"transactionType": "LOTTERY"})
	s.refused(http.StatusBadRequest, "POST", "/transactions", []byte("{"))
}

func (s *stage) preauthorise(order, number string) string {
	s.Helper()
	tx := must(s.client.Transactions.Preauthorise(s.Context(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: shop, Source: quickstream.FromCard(cardDetails(number)), PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr(payerIP),
		StoredCredential:       &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		PaymentReferenceNumber: order,
	}))(s)
	return tx.ReceiptNumber
}

func (s *stage) preauthorisations() {
	tx := s.client.Transactions
	change := func(receipt string, amount int64) quickstream.TopUpParams {
		return quickstream.TopUpParams{OriginalReceiptNumber: receipt, PrincipalAmount: decimal.New(amount, 0), Currency: quickstream.CurrencyAUD}
	}
	held := s.preauthorise("held", mastercard)
	must(tx.TopUp(s.Context(), change(held, 20)))(s)
	must(tx.Extend(s.Context(), quickstream.ExtendParams{OriginalReceiptNumber: held, Currency: quickstream.CurrencyAUD}))(s)
	must(tx.Capture(s.Context(), quickstream.CaptureParams{
		OriginalReceiptNumber: held, PrincipalAmount: decimal.New(110, 0), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))(s)
	for _, part := range []struct {
		kind   quickstream.CancellationType
		amount int64
	}{{quickstream.CancellationTypePartial, 30}, {quickstream.CancellationTypeFull, 100}} {
		must(tx.CancelPreauthorisation(s.Context(), quickstream.CancelPreauthorisationParams{
			OriginalReceiptNumber: s.preauthorise("cancelled", visa), Type: part.kind, PrincipalAmount: decimal.New(part.amount, 0), Currency: quickstream.CurrencyAUD,
		}))(s)
	}
	expired := s.preauthorise("expired", visa)
	s.wait(8 * 24 * time.Hour)
	must(tx.Reauthorise(s.Context(), quickstream.ReauthoriseParams(change(expired, 100))))(s)
	must(tx.VerifyAccount(s.Context(), quickstream.VerifyAccountParams{
		SupplierBusinessCode: shop, Source: quickstream.FromCard(cardDetails(visa)), ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr(payerIP),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))(s)
	s.refused(http.StatusUnprocessableEntity, "POST", "/transactions", object{
		"transactionType": "PREAUTH", "authorisationType": "EXTENSION", "originalReceiptNumber": expired, "principalAmount": 1, "currency": "AUD",
	})
}

// afterwards undoes and gives back.
func (s *stage) afterwards() {
	paid := s.pay("refunded", quickstream.FromCard(cardDetails(visa))).ReceiptNumber
	voided := s.pay("voided", quickstream.FromCard(cardDetails(visa))).ReceiptNumber
	must(s.client.Transactions.Void(s.Context(), voided))(s)
	s.send(http.StatusUnprocessableEntity, "POST", "/transactions/"+voided+"/void", nil)
	s.wait(48 * time.Hour) // past the cut-off
	refund := quickstream.RefundParams{
		OriginalReceiptNumber: paid, PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD,
		CardExpiry: quickstream.YearMonth{Year: 2032, Month: time.March}, Comment: "a refund",
	}
	must(s.client.Transactions.Refund(s.Context(), refund))(s)
	s.send(http.StatusUnprocessableEntity, "POST", "/transactions", object{
		"transactionType": "REFUND", "originalReceiptNumber": paid, "principalAmount": 900, "currency": "AUD",
	})
	s.wait(time.Minute)
	must(s.client.Transactions.Get(s.Context(), paid))(s)
	all(s, s.client.Transactions.Refunds(paid))
}

func today(s *stage) quickstream.Date { return quickstream.DateOf(s.box.Now().In(sydney(s))) }

func sydney(s *stage) *time.Location {
	s.Helper()
	return must(time.LoadLocation("Australia/Sydney"))(s)
}

func (s *stage) lists(account string) {
	tx := s.client.Transactions
	settled := s.pay("listed", quickstream.FromAccount(account))
	soft := s.pay("soft", quickstream.FromCard(cardDetails(softly))).ReceiptNumber
	s.pay("bank", quickstream.FromBankAccount(bankAccount("032-002")), noCard)
	s.box.NextTransaction(sandbox.Suspended())
	s.pay("suspended", quickstream.FromCard(cardDetails(visa)))
	s.preauthorise("open", visa)
	bank := s.pay("returned", quickstream.FromBankAccount(bankAccount("032-002")), noCard).ReceiptNumber
	s.check(s.box.ReturnPayment(bank, "6"))
	must(s.box.RetryPayment(soft))(s)
	s.wait(time.Minute)

	day := today(s)
	month := quickstream.YearMonth{Year: day.Year, Month: day.Month}
	for _, list := range []quickstream.List[quickstream.Transaction]{
		tx.List(quickstream.ListTransactionsParams{SupplierBusinessCode: shop}),
		tx.ByReference("C-1"),
		tx.BySettlementDate(settled.SettlementDate),
		tx.ByAccount(account),
		tx.ByCreditCard(visa[:6], visa[13:]),
		tx.ByBankAccount("032-002", quickstream.NewSecret("999994")),
		tx.ByNZBankAccount("03", "0123", quickstream.NewSecret("0034141")),
		tx.Suspended(quickstream.SuspendedParams{SupplierBusinessCode: shop, Month: month}),
		tx.Retries(soft),
		tx.Returned(quickstream.ReturnedParams{Date: day, SupplierBusinessCode: shop}),
		tx.OpenPreauths(quickstream.OpenPreauthsParams{Month: month, SupplierBusinessCode: shop}),
	} {
		all(s, list)
	}
	for _, query := range []string{
		"?supplierBusinessCode=NOBODY", "/for-reference-number?referenceNumber=", "/for-reference-number?referenceNumber=nothing",
		"/for-settlement-date?settlementDate=today", "/for-account-token", "/for-credit-card?firstSix=1", "/for-bank-account?bsb=1",
		"/for-nz-bank-account?bankCode=1", "/suspended?month=2000", "/returns?date=today", "/open-preauths?month=2000",
	} {
		s.refused(0, "GET", "/transactions"+query, nil)
	}
}
