module github.com/quickstream-go/quickstream/examples

go 1.26

require github.com/quickstream-go/quickstream v0.0.0

replace github.com/quickstream-go/quickstream => ../
