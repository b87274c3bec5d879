package sandbox

import "net/http"

func (b *Sandbox) rootOperations() []operation {
	return []operation{{id: "GET /", key: needsEither, handle: b.getRoot}}
}

// communityCode is the code of the one facility that a sandbox is.
const communityCode = "SANDBOX"

// rootBody has the members that public client code reads; unconfirmed.
type rootBody struct {
	Links         []link `json:"links"`
	CommunityCode string `json:"communityCode"`
	CommunityName string `json:"communityName"`
	KeyName       string `json:"keyName"`
}

func (b *Sandbox) getRoot(c *call) answer {
	kind, _ := b.keyOf(c.header)
	return reply(http.StatusOK, rootBody{
		Links: c.links(
			get("self", c.href()),
			get("customers", c.href("customers")),
			get("transactions", c.href("transactions")),
			link{Rel: "single-use-tokens", Href: c.href("single-use-tokens"), RequestMethod: http.MethodPost},
		),
		CommunityCode: communityCode,
		CommunityName: "Sandbox Community",
		KeyName:       "Sandbox " + kind + " key",
	})
}
