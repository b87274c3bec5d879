package sandbox

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// operation is an operation of the service. Its id is the method and the path template of the
// contract.
type operation struct {
	id    string
	key   string // the kind of API key; empty: the Secret one
	query []parameter
	// unknown is set if the operation answers 404 to an invalid parameter: it names what does not exist.
	unknown string
	handle  func(*call) answer // runs with mu held
}

// operations is the table of all operations. Paths that are not in the contract come from the vendor's
// pages and from public client code, unconfirmed.
func (b *Sandbox) operations() []operation {
	report := []parameter{
		may("version", oneOf("1", "2")), need("settlementDate", dateForm), may("transactionStatus", oneOf("Approved", "Declined")),
		may("supplierBusinessCode", b.knownBusiness), may("source", form(joined)), may("excludePreAuths", oneOf("true", "false")), may("columns", form(joined)),
	}
	bank := []parameter{need("bsb", form(bsbForm)), need("accountNumber", digits(6, 9))}
	nz := []parameter{need("bankCode", digits(2, 2)), need("branchCode", digits(4, 4)), need("accountNumber", digits(7, 8))}
	month, shop := need("month", monthForm), may("supplierBusinessCode", b.knownBusiness)
	return []operation{
		{id: "GET /", key: eitherKey, handle: b.getRoot},
		{id: "POST /customers", handle: func(c *call) answer { return b.saveCustomer(c, &customer{}) }},
		{id: "GET /customers", query: paged(may("customerNumber", filled), may("customerName", filled), may("emailAddress", filled)), handle: b.findCustomers},
		{id: "GET /customers/{customerId}", handle: shown("customer", named(&b.customers, "customerId"), (*call).customerBody)},
		{id: "PUT /customers/{customerId}", handle: found("customer", named(&b.customers, "customerId"), b.saveCustomer)},
		{id: "POST /single-use-tokens", key: KeyPublishable, handle: b.createToken},
		{id: "POST /transactions", handle: b.createTransaction},
		{id: "GET /transactions", query: []parameter{shop}, handle: b.recentTransactions},
		{id: "GET /transactions/for-reference-number", query: paged(need("referenceNumber", ascii)), handle: b.transactionsByReference},
		{id: "GET /transactions/for-settlement-date", query: paged(need("settlementDate", dateForm)), handle: b.listed("settlement date")},
		{id: "GET /transactions/for-account-token", query: paged(need(sourceAccount, ascii)), handle: b.listed("account token")},
		{id: "GET /transactions/for-credit-card", query: paged(need("firstSix", digits(6, 6)), need("lastThree", digits(3, 3))), handle: b.listed("")},
		{id: "GET /transactions/for-bank-account", query: paged(bank...), handle: b.listed("")},
		{id: "GET /transactions/for-nz-bank-account", query: paged(nz...), handle: b.listed("")},
		{id: "GET /transactions/suspended", query: paged(need("supplierBusinessCode", b.knownBusiness), need("month", monthForm, b.recentMonth)), unknown: "business or month", handle: b.listed("")},
		{id: "GET /transactions/returns", query: paged(need("date", dateForm), shop), unknown: "date or business", handle: b.listed("")},
		{id: "GET /transactions/open-preauths", query: []parameter{month, shop}, handle: b.openPreauths},
		{id: "GET /customers/{customerId}/transactions", query: paged(), handle: found("customer", named(&b.customers, "customerId"), b.transactionsOfCustomer)},
		{id: "GET /transactions/{receiptNumber}/refunds", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.Type == typeRefund })},
		{id: "GET /transactions/{receiptNumber}/retries", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.retries != nil })},
		{id: "GET /transactions/{receiptNumber}", handle: shown("transaction", b.visibleTransaction, b.transactionBody)},
		{id: "POST /transactions/{receiptNumber}/void", handle: found("transaction", named(&b.transactions, "receiptNumber"), b.voidTransaction)},
		{id: "POST /customers/{customerId}/payto-agreements", handle: found("customer", named(&b.customers, "customerId"), b.createAgreement)},
		{id: "GET /customers/{customerId}/payto-agreements", query: paged(may("supplierBusinessCode", filled), may("status", filled)), handle: found("customer", named(&b.customers, "customerId"), b.listAgreements)},
		{id: "GET /payto-agreements/{agreementToken}", handle: shown("agreement", b.visibleAgreement, b.agreementBody)},
		{id: "PATCH /payto-agreements/{agreementToken}", handle: found("agreement", named(&b.agreements, "agreementToken"), b.amendAgreement)},
		{id: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", handle: b.authenticateCard},
		{id: "POST /accounts", handle: func(c *call) answer { return b.createAccount(c, &customer{}) }},
		{id: "POST /customers/{customerId}/accounts", handle: found("customer", named(&b.customers, "customerId"), b.createAccount)},
		{id: "GET /customers/{customerId}/accounts", query: paged(), handle: found("customer", named(&b.customers, "customerId"), b.accountsOfCustomer)},
		{id: "POST /customers/{customerId}/payids", handle: found("customer", named(&b.customers, "customerId"), b.registerPayID)},
		{id: "GET /accounts/{accountToken}", handle: shown("account", named(&b.accounts, "accountToken"), b.accountBody)},
		{id: "GET /transactions/csv", query: report, handle: b.transactionReport},
		{id: "POST /payment-files", handle: b.uploadFile},
		{id: "GET /payment-files", query: paged(), handle: b.listFiles},
		{id: "GET /payment-files/{id}", handle: shown("payment file", named(&b.files, "id"), (*call).fileBody)},
		{id: "GET /payment-files/{id}/payment-batches", query: paged(), handle: found("payment file", named(&b.files, "id"), func(c *call, f *paymentFile) answer { return list(c, f.batches, (*call).batchBody) })},
		{id: "GET /payment-files/{id}/csv", handle: b.fileReport((*paymentFile).payments)},
		{id: "GET /payment-files/{id}/flat-file", handle: b.fileReport((*paymentFile).payments)},
		{id: "GET /payment-files/{id}/mts-rejects", handle: b.fileReport((*paymentFile).rejects)},
		{id: "GET /payment-batches/{id}", handle: shown("payment batch", named(&b.batches, "id"), (*call).batchBody)},
		{id: "GET /payment-batches/{id}/transactions", query: paged(may("status", oneOf("0", "1", "2", "3"))), unknown: "status", handle: found("payment batch", named(&b.batches, "id"), b.transactionsOfBatch)},
		{id: "GET /recurring-payments/{paymentScheduleId}", handle: shown("recurring payment", named(&b.schedules, "paymentScheduleId"), (*call).scheduleBody)},
		{id: "GET /recurring-payments/{paymentScheduleId}/transactions", query: paged(), handle: found("recurring payment", named(&b.schedules, "paymentScheduleId"), b.transactionsOfSchedule)},
		{id: "GET /customers/{customerId}/recurring-payments", query: paged(), handle: found("customer", named(&b.customers, "customerId"), b.schedulesOfCustomer)},
		{id: "GET /businesses", query: paged(), handle: func(c *call) answer { return list(c, b.businesses, (*call).businessBody) }},
		{id: "GET /businesses/{supplierBusinessCode}", handle: shown("business", b.namedBusiness, (*call).businessBody)},
		{id: "GET /businesses/{supplierBusinessCode}/list-card-surcharges", handle: found("business", b.namedBusiness, b.cardSurcharges)},
		{id: "GET /businesses/{supplierBusinessCode}/card-surcharges", key: KeyPublishable, handle: found("business", b.namedBusiness, b.cardSurcharges)},
		{id: "GET /businesses/{supplierBusinessCode}/accepted-cards", key: KeyPublishable, handle: found("business", b.namedBusiness, b.acceptedCards)},
		{id: "POST /businesses/{supplierBusinessCode}/query-card-surcharge", key: KeyPublishable, handle: found("business", b.namedBusiness, b.queryCardSurcharge)},
		{id: "GET /credit-cards/card-schemes/{firstSixDigits}", key: KeyPublishable, handle: b.cardScheme},
		{id: "GET /api-keys/latest", handle: b.latestKey},
	}
}

// eitherKey is the key of an operation that takes either kind.
const eitherKey = "either"

type routes []operation

func splitPath(path string) []string {
	if path = strings.TrimPrefix(path, "/"); path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func (rs routes) known(id string) bool {
	return slices.ContainsFunc(rs, func(op operation) bool { return op.id == id })
}

// find returns the operation for a method and an escaped path, or nil. A literal segment wins over a
// parameter.
func (rs routes) find(method, escapedPath string) (op *operation, params map[string]string) {
	rest, ok := strings.CutPrefix(escapedPath, basePath)
	if !ok || (rest != "" && rest[0] != '/') {
		return nil, nil
	}
	given := splitPath(rest)
	for i := range rs {
		if got, ok := rs[i].match(method, given); ok && (op == nil || len(got) < len(params)) {
			op, params = &rs[i], got
		}
	}
	return op, params
}

// match compares segment by segment. It unescapes parameters only after the path was split,
// so that an escaped slash stays part of an identifier.
func (op *operation) match(method string, given []string) (map[string]string, bool) {
	own, path, _ := strings.Cut(op.id, " ")
	segments := splitPath(path)
	if own != method || len(given) != len(segments) {
		return nil, false
	}
	params := make(map[string]string)
	for i, want := range segments {
		name, isParam := strings.CutPrefix(want, "{")
		if !isParam {
			if given[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(given[i])
		if err != nil || value == "" {
			return nil, false
		}
		params[strings.TrimSuffix(name, "}")] = value
	}
	return params, true
}

// named finds the object that a parameter of the path names, or nil.
func named[T any](s *store[T], parameter string) func(*call) *T {
	return func(c *call) *T { return s.byID[c.params[parameter]] }
}

// found returns a handler for the object that the path names. It answers 404 if there is none.
func found[T any](what string, find func(*call) *T, handle func(*call, *T) answer) func(*call) answer {
	return func(c *call) answer {
		if object := find(c); object != nil {
			return handle(c, object)
		}
		return c.notFound(what)
	}
}

func shown[T any](what string, find func(*call) *T, body func(*call, *T) object) func(*call) answer {
	return found(what, find, func(c *call, object *T) answer { return reply(http.StatusOK, body(c, object)) })
}

// communityCode is the code of the facility.
const communityCode = "SANDBOX"

// getRoot answers with the members that public client code reads. Unconfirmed.
func (b *Sandbox) getRoot(c *call) answer {
	kind, _ := b.keyOf(c.header)
	post := get("single-use-tokens", c.href("single-use-tokens"))
	post["requestMethod"] = http.MethodPost
	return reply(http.StatusOK, object{
		"links":         c.links(get("self", c.href()), get("customers", c.href("customers")), get("transactions", c.href("transactions")), post),
		"communityCode": communityCode, "communityName": "Sandbox Community", "keyName": "Sandbox " + kind + " key",
	})
}

// list answers with one page of items, given newest first. The number of a page counts the items
// from its first one to the oldest, so that new items do not shift old pages.
func list[T any](c *call, items []T, body func(*call, T) object) answer {
	paging, size, from, added := c.box.assume.Paging, max(c.box.assume.PageSize, 1), 0, 0
	address := c.url.RequestURI()
	if page := c.query.Get(pageParameter); page != "" {
		left, err := strconv.Atoi(page)
		if err != nil || left < 0 {
			c.refuse(pageParameter, "", "is not a page of this list")
			return c.invalid()
		}
		if paging == "shifting" {
			added = 1 // at the front, after the first page
		}
		from = max(len(items)-left-added, 0)
	} else if paging == "unstable" && size < len(items) {
		if c.box.pagesAsked[address]++; c.box.pagesAsked[address]%2 == 1 {
			items = slices.Clone(items)
			items[size-1], items[size] = items[size], items[size-1]
		}
	}
	if paging == "gone" && from > 0 && from <= size { // the second page
		if c.box.pagesAsked[address]++; c.box.pagesAsked[address]%2 == 1 {
			return c.notFound("page")
		}
	}
	to := min(from+size, len(items))
	var links []object
	link := func(rel string, first int) {
		q := cloneQuery(c.query)
		q.Set(pageParameter, strconv.Itoa(len(items)-first-added))
		links = append(links, get(rel, c.origin+c.url.EscapedPath()+"?"+q.Encode()))
	}
	if to < len(items) {
		link("next", to)
	}
	if from > 0 {
		link("prev", max(from-size, 0))
	}
	return listOf(c, items[from:to], body, links...)
}

// listOf answers with a list.
func listOf[T any](c *call, items []T, body func(*call, T) object, links ...object) answer {
	data := make([]object, len(items))
	for i, item := range items {
		data[i] = body(c, item)
	}
	return reply(http.StatusOK, object{"links": c.links(links...), "data": data})
}

// pageParameter is the sandbox's own name for it: the service's is not public.
const pageParameter = "page"

// paged returns the parameters of a list with pages.
func paged(filters ...parameter) []parameter { return append(filters, parameter{name: pageParameter}) }

// replayStore keeps the answers to POSTs by their Idempotency-Key.
type replayStore map[replayID]*replayEntry

// replayID includes the path, because a key belongs to one operation on one object.
type replayID struct{ operation, path, key string }

type replayEntry struct {
	body    [sha256.Size]byte // digest
	done    bool
	answer  answer
	made    *transaction // by the first use
	expires time.Time
}

func (c *call) replayID() (replayID, bool) {
	if c.method != http.MethodPost || c.idempotencyKey == "" || c.box.assume.KeyLifetime <= 0 {
		return replayID{}, false
	}
	return replayID{c.op.id, c.url.EscapedPath(), c.idempotencyKey}, true
}

// claim reserves the idempotency key of a call. If it was used before, the call is settled: by the first
// answer, which is a replay, or by a refusal.
func (s replayStore) claim(c *call) (a answer, settled, replayed bool) {
	id, keyed := c.replayID()
	if !keyed {
		return answer{}, false, false
	}
	first, used := s[id]
	switch {
	case !used || first.expired(c.box.clock.Now()):
		s[id] = &replayEntry{body: sha256.Sum256(c.body)}
		return answer{}, false, false
	case !first.done:
		return c.problem(http.StatusConflict, "A request with this Idempotency-Key is being processed."), true, false
	case first.body != sha256.Sum256(c.body) && c.box.assume.KeyMismatch != "replay":
		status := http.StatusUnprocessableEntity
		if c.box.assume.KeyMismatch == "409" {
			status = http.StatusConflict
		}
		return c.problem(status, "This Idempotency-Key was used with another body."), true, false
	}
	c.made = first.made
	return first.answer, true, true
}

// store ends the reservation of a call. It keeps a success or a 422, and frees the key after any other answer.
func (s replayStore) store(c *call, a answer) {
	id, keyed := c.replayID()
	if !keyed {
		return
	}
	if !a.succeeded() && a.status != http.StatusUnprocessableEntity {
		delete(s, id)
		return
	}
	s.keep(c, id, a)
}

func (s replayStore) keep(c *call, id replayID, a answer) {
	now := c.box.clock.Now()
	if n := len(s); n >= maxRecorded && n%1000 == 0 { // not at each: all may be live
		maps.DeleteFunc(s, func(_ replayID, e *replayEntry) bool { return e.expired(now) })
	}
	s[id] = &replayEntry{body: sha256.Sum256(c.body), done: true, answer: a, made: c.made, expires: now.Add(c.box.assume.KeyLifetime)}
}

func (e *replayEntry) expired(now time.Time) bool { return e.done && !now.Before(e.expires) }

// spend uses up the idempotency key of a call that was not carried out: later calls get the
// answer.
func (s replayStore) spend(c *call, a answer) {
	if id, keyed := c.replayID(); keyed {
		if _, used := s[id]; !used {
			s.keep(c, id, a)
		}
	}
}
