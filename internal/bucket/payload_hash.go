package bucket

import (
	"context"
	"encoding/hex"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// payloadHash signs a request with the known SHA-256 of its body. Else the SDK would
// read the body once more to find it out, or on TLS leave the body unsigned.
func payloadHash(sum [32]byte) func(*s3.Options) {
	set := middleware.InitializeMiddlewareFunc("LedgerlakePayloadHash",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			return next.HandleInitialize(v4.SetPayloadHash(ctx, hex.EncodeToString(sum[:])), in)
		})
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(set, middleware.Before)
		})
	}
}
