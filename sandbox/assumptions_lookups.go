package sandbox

import (
	"time"
)

// defaultLookups sets what lookupsRows describes.
func (a *Assumptions) defaultLookups() {
	a.LookupLag = 2 * time.Second
	a.AgreementLookupLag = 2 * time.Second
	a.ReferenceSearch = "anyCase"
	a.ReusedReferences = "none"
	a.RefundReferences = "own"
	a.NothingFound = "404"
	a.PageSize = 3
	a.Paging = "stable"
	a.ListOrder = "newest"
	a.NextLinks = "absolute"
	a.AgreementsPaginated = true
	a.SearchIgnoresCase = true
}

func (a *Assumptions) lookupsRows() []assumption {
	return []assumption{
		row("LookupLag", &a.LookupLag, "nothing", "a look-up right after a lost answer must not be taken for proof that nothing happened", "0s", "10s", "5m", "24h"),
		row("AgreementLookupLag", &a.AgreementLookupLag, "nothing", "an agreement that cannot be found yet may exist all the same", "0s", "5m"),
		row("ReferenceSearch", &a.ReferenceSearch, "\"case insensitive\", and nothing about parts", "as stated", "exact", "prefix"),
		row("ReusedReferences", &a.ReusedReferences, "nothing says that references are unique", "references of a merchant's own are his to keep unique", "declined", "approved"),
		row("RefundReferences", &a.RefundReferences, "nothing", "the reference as sent, like that of any transaction", "original", "none"),
		row("NothingFound", &a.NothingFound, "404 is listed for these look-ups, its cause is not", "404 and an empty list both mean not found yet", "empty", "null"),
		row("PageSize", &a.PageSize, "lists are paginated by next and prev links; sizes are not stated", "every list of some length has a second page", "1", "2", "10", "1000"),
		row("Paging", &a.Paging, "nothing", "pages stay what they were", "shifting", "lastEmpty", "gone"),
		row("ListOrder", &a.ListOrder, "most recent first, for three of the lists", "the order of the lists that promise one", "oldest", "unstable"),
		row("NextLinks", &a.NextLinks, "links lead to other pages; their form is not stated", "an address can be used as it is", "defaultPort", "rootRelative", "queryOnly", "otherScheme", "versionPrefix"),
		row("AgreementsPaginated", &a.AgreementsPaginated, "the list is not marked as paginated; others are", "a reader of the first page only misses agreements"),
		row("RelatedLinks", &a.RelatedLinks, "objects carry links; of the names only next and prev are known", "nothing to rely on"),
		row("SearchIgnoresCase", &a.SearchIgnoresCase, "name and email match partially; case is not stated", "searches find more than was asked for"),
	}
}
