package apitest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExported(t *testing.T) {
	const source = `package p

import "context"

const Limit, hidden = 1 << 10, 2
const Approved Status = "approved"

var ErrLost error

type Status string
type Other = Status
type Number interface{ ~int | ~float64 }

type Doer interface {
	context.Context
	Do(ctx context.Context, n ...int) (err error)
}
type Sealed interface { Name() string; sealed() }

type base struct { Raw []byte; secret int }
func (base) Extra() map[string]any { return nil }
func (*base) Set(v string) {}
func (base) own() {}

type Payment struct {
	base
	Status
	Amount, fee int
	Hook func(n int) error
}
func (p *Payment) Pay(ctx context.Context, what Status) (*Payment, error) { return nil, nil }
func (p Payment) String() string { return "" }

type List[T any] struct { items []T }
func (l List[T]) First() (*T, error) { return nil, nil }
func ListOf[T any, N Number](n N, items ...*T) List[T] { return List[T]{} }
func private() {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	require.NoError(t, err)
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("p", fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`const Approved Status = "approved"`,
		`const Limit untyped int = 1024`,
		`func ListOf[T any, N Number](N, ...*T) List[T]`,
		`method (*Payment) Pay(context.Context, Status) (*Payment, error)`,
		`method (*Payment) Set(string)`,
		`method (List[T any]) First() (*T, error)`,
		`method (Payment) Extra() map[string]any`,
		`method (Payment) String() string`,
		`type Doer interface`,
		`type Doer interface, Deadline() (time.Time, bool)`,
		`type Doer interface, Do(context.Context, ...int) error`,
		`type Doer interface, Done() <-chan struct{}`,
		`type Doer interface, Err() error`,
		`type Doer interface, Value(any) any`,
		`type List[T any] struct`,
		`type Number interface`,
		`type Number interface{~int | ~float64}`,
		`type Other = Status`,
		`type Payment struct`,
		`type Payment struct, Amount int`,
		`type Payment struct, Hook func(n int) error`,
		`type Payment struct, Raw []byte`,
		`type Payment struct, embeds Status`,
		`type Sealed interface`,
		`type Sealed interface, Name() string`,
		`type Sealed interface, with methods that are not exported`,
		`type Status string`,
		`var ErrLost error`,
	}, exported(pkg))
}
