module github.com/quickstream-go/quickstream

go 1.26.0

require (
	github.com/google/go-querystring v1.2.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/shopspring/decimal v1.6.0
	github.com/stretchr/testify v1.12.1
	gopkg.in/h2non/gock.v1 v1.1.2
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/h2non/parth v0.0.0-20190131123155-b4df798d6542 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
