package conformance

import (
	"go/ast"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// TestNames holds the names in every struct's json and url tags, of client, webhooks
// and sandbox, against the document: the names of one struct have to stand beside each
// other in one documented object, or among the query parameters of one operation. The
// other tests see what is sent and answered; this one also sees what no documented
// exchange has, and what nothing reads.
func TestNames(t *testing.T) {
	documented := documentedNames(document(t))
	seen := map[string]bool{}
	for _, dir := range []string{"", "internal/wire", "webhooks", "sandbox"} {
		for _, s := range taggedStructs(t, dir) {
			if dir == "sandbox" && ast.IsExported(path.Base(s.owner)) {
				continue // what tests read of the sandbox, as its command writes it; the service has nothing of it
			}
			seen[s.owner] = true
			own := strings.Fields(ownNames[s.owner].names)
			rest := without(s.names, own)
			if unknown := notIn(rest, documented[s.key]); len(unknown) > 0 {
				t.Errorf("%s: %v are not documented beside %v, and not in ownNames", s.owner, unknown, without(rest, unknown))
			}
			if gone := without(own, s.names); len(gone) > 0 {
				t.Errorf("%s: %v are in ownNames and not in a tag", s.owner, gone)
			}
			for _, name := range own {
				if len(notIn(append(rest, name), documented[s.key])) == 0 {
					t.Errorf("%s: %s is in ownNames and documented", s.owner, name)
				}
			}
		}
	}
	for owner := range ownNames {
		if !seen[owner] {
			t.Errorf("%s is in ownNames and has no tags", owner)
		}
	}
}

// ownNames are the structs with names that no documented object has, and why.
var ownNames = map[string]struct{ names, why string }{
	"Intent": {
		"version operation target reference ownReference environment idempotencyKey ownKey id metadataName notBefore attempts resent answered request complete extraFields carrier",
		"what a merchant stores; nothing of it is sent",
	},
	"pageJSON":                     {"errors", "a list that says so may be a part"},
	"internal/wire/fieldErrors":    {"message", "a sister product's name of messages"},
	"internal/wire/ParseErrorBody": {"receiptNumber summaryCode", "a refusal has no transaction: an answer with one is none"},
	"ThreeDSResult":                {"links", "other answers have them"},
	"SingleUseToken":               {"expiresAt", "seen in public client code, and no answer is documented to have it"},
	"sandbox/batchBody": {
		"paymentFileId accountType supplierBusinessCode numberOfTransactions totalAmount",
		"no member but the id is published",
	},
	"sandbox/scheduleBody": {
		"customerId accountToken supplierBusinessCode frequency scheduleType regularPaymentAmount nextPaymentDate",
		"no member but id, code and status is published",
	},
}

// notIn returns the names that the nearest of the objects lacks.
func notIn(wanted []string, objects [][]string) []string {
	least := wanted
	for _, object := range objects {
		if lacking := without(wanted, object); len(lacking) < len(least) {
			least = lacking
		}
	}
	return least
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(drop, name) })
}

// documentedNames are the names of every documented object, under "json", and those of
// every operation's query, under "url". The forms of one request are one object too:
// the client has one struct for them.
func documentedNames(doc *contract.Document) map[string][][]string {
	var objects, queries [][]string
	for _, op := range slices.Concat(doc.Operations(), doc.Webhooks()) {
		var query []string
		for _, p := range op.Parameters() {
			if p.In == "query" {
				query = append(query, p.Name)
			}
		}
		queries = append(queries, query)
		var sent []contract.Member
		for _, form := range op.RequestVariants() {
			sent = append(sent, form.Members...)
		}
		objects = append(objects, objectsOf(sent)...)
		for _, status := range op.Statuses() {
			objects = append(objects, objectsOf(op.ResponseMembers(status))...)
		}
	}
	return map[string][][]string{"json": objects, "url": queries}
}

// objectsOf are the objects that a body's members stand in.
func objectsOf(members []contract.Member) [][]string {
	within := map[string][]string{}
	for _, m := range members {
		i := strings.LastIndex(m.Path, ".") + 1
		within[m.Path[:i]] = append(within[m.Path[:i]], m.Path[i:])
	}
	return slices.Collect(maps.Values(within))
}

// taggedStruct is a struct with tags of one key.
type taggedStruct struct {
	owner string // its type, or the function that it stands in, below its directory
	key   string // json or url
	names []string
}

// taggedStructs are those of a directory.
func taggedStructs(t *testing.T, dir string) []taggedStruct {
	t.Helper()
	var out []taggedStruct
	for _, decl := range declarations(t, dir) {
		owner := ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			owner = f.Name.Name
		}
		ast.Inspect(decl, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.TypeSpec:
				owner = n.Name.Name
			case *ast.StructType:
				for _, key := range []string{"json", "url"} {
					if tagged := tagNames(n, key); len(tagged) > 0 {
						out = append(out, taggedStruct{path.Join(dir, owner), key, tagged})
					}
				}
			}
			return true
		})
	}
	return out
}

// tagNames are the names in the tags of a struct's own fields.
func tagNames(s *ast.StructType, key string) []string {
	var out []string
	for _, field := range s.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get(key), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}
