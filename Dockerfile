# The sandbox's command as an image of one static binary.
#
#   docker build -t quickstream-sandbox .
#   docker run -p 127.0.0.1:8642:8642 quickstream-sandbox -host sandbox -webhook-host host.docker.internal \
#     -token a-token-of-your-own -secret-key SANDBOX_SEC_SHOP -publishable-key SANDBOX_PUB_SHOP
#
# Other containers call it by the name of -host, and it posts webhooks to -webhook-host. Its control pages
# need the token. Publish the port on 127.0.0.1 only: connections are not encrypted.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /quickstream-sandbox ./cmd/quickstream-sandbox

FROM scratch
COPY --from=build /quickstream-sandbox /quickstream-sandbox
USER 65534:65534
EXPOSE 8642
ENTRYPOINT ["/quickstream-sandbox", "-expose", "-addr", "0.0.0.0:8642"]
