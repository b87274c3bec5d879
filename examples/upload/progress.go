package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/quickstream-go/quickstream"
)

// upload uploads a file and shows how much of it was taken, on standard error and
// only where somebody looks at it: a log gets no bar.
func upload(ctx context.Context, client *quickstream.Client, name string, content []byte) (*quickstream.PaymentFile, error) {
	size := int64(len(content))
	watched := term.IsTerminal(int(os.Stderr.Fd()))
	bar := progressbar.NewOptions64(
		size,
		progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetVisibility(watched),
		progressbar.OptionSetDescription("   "+name),
		progressbar.OptionShowBytes(true),
	)
	file, err := client.PaymentFiles.Upload(ctx, quickstream.UploadPaymentFileParams{
		FileName: name, Format: quickstream.PaymentFileFormatCSVTokens, Content: bytes.NewReader(content), Size: size,
		Progress: func(sent int64) { _ = bar.Set64(sent) }, // a bar that cannot be drawn is no reason to stop
	})
	if watched {
		fmt.Fprintln(os.Stderr)
	}
	if err != nil {
		return nil, err
	}
	fmt.Printf("   %s: %d bytes uploaded, file %s\n", name, size, file.PaymentFileID)
	return file, nil
}
