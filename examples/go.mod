module github.com/quickstream-go/quickstream/examples

go 1.26.0

require (
	github.com/quickstream-go/quickstream v0.1.0
	github.com/shopspring/decimal v1.6.0
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
)

replace github.com/quickstream-go/quickstream => ../
