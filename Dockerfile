# The sandbox's command as an image of one static binary.
#
#   docker build -t quickstream-sandbox .
#   docker run -p 127.0.0.1:8642:8642 quickstream-sandbox -help
FROM golang:1.26.8 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /quickstream-sandbox ./cmd/quickstream-sandbox

FROM scratch
COPY --from=build /quickstream-sandbox /quickstream-sandbox
USER 65534:65534
EXPOSE 8642
ENTRYPOINT ["/quickstream-sandbox", "-expose", "-addr", "0.0.0.0:8642"]
