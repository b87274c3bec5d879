// Package contract holds the OpenAPI 3.1 description that the client and the
// sandbox of this repository are both tested against, and validates requests,
// responses and webhook notifications with it.
//
// The description is unofficial, in our own words. Requests are closed: a member or query parameter
// that is not documented is an error. Responses are open, because the service may add members;
// [Undocumented] lists the members of a body that are not in the description.
package contract
