package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
	_ "time/tzdata" // dates are those of Sydney, on machines without the table too

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/otelquickstream/oteldurable"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

//go:embed static
var static embed.FS

// server is the shop.
type server struct {
	config   Config
	clock    *clock
	logger   *slog.Logger
	db       *sql.DB
	client   *quickstream.Client
	engine   *durable.Engine[*sql.Tx]
	verifier *webhooks.Verifier
	inbox    http.Handler
	office   *console.Handler
	sydney   *time.Location
	pages    pages

	telemetry *telemetry
	streams   streams
	logins    gate

	ending  context.Context // ends when the shop does
	end     context.CancelFunc
	running sync.WaitGroup
}

// open returns a shop that takes orders and works on their payments until it is closed.
func open(ctx context.Context, config Config, logger *slog.Logger) (*server, error) {
	s := &server{config: config, clock: &clock{address: config.Clock}, logger: logger, logins: gate{turn: make(chan struct{}, 1)}}
	s.ending, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.prepare(ctx); err != nil {
		s.end()
		if s.db != nil {
			_ = s.db.Close()
		}
		if s.telemetry != nil {
			_ = s.telemetry.close(ctx)
		}
		return nil, err
	}
	s.running.Go(func() { s.clock.follow(s.ending) })
	s.running.Go(func() { s.collect(s.ending) })
	return s, nil
}

func (s *server) prepare(ctx context.Context) (err error) {
	if s.pages, err = loadPages(); err != nil {
		return err
	}
	if s.sydney, err = time.LoadLocation("Australia/Sydney"); err != nil {
		return err
	}
	if err = s.clock.read(ctx); err != nil {
		return err
	}
	if s.db, err = openDatabase(ctx, s.config.Database); err != nil {
		return err
	}
	if s.telemetry, err = newTelemetry(s.config.Traces); err != nil {
		return err
	}
	s.verifier, err = webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(s.config.WebhookKey)},
		webhooks.WithTolerance(webhooks.StoreTolerance)) // as the inbox, which remembers what came
	if err != nil {
		return err
	}
	observer := s.telemetry.observer
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(s.config.SecretKey), Publishable: quickstream.NewPublishableKey(s.config.PublishableKey)}
	s.client, err = quickstream.NewClient(quickstream.CustomURL(s.config.Service+"/rest/v1"), keys,
		quickstream.WithHTTPClient(s.clock.client()), quickstream.WithObserver(observer),
		quickstream.WithSupplierBusinessCode(s.config.Business))
	if err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff() // a setting of the facility
	options, err := oteldurable.Count(s.telemetry.meters, durable.Options[*sql.Tx]{
		Installation: "shop",
		OnOutcome:    s.onOutcome, OnEvent: s.onEvent, CompareAt: &resolve.TimeOfDay{Hour: 4}, ServiceRetries: &off, Clock: s.clock.Now, Logger: s.logger,
		SweepEvery: 200 * time.Millisecond, Carrier: observer.Carrier, Continue: observer.Continue,
	})
	if err != nil {
		return err
	}
	if s.engine, err = durable.New(ctx, sqlite.DB(s.db), s.client, options); err != nil {
		return err
	}
	s.inbox = s.engine.Inbox(s.verifier)
	if s.office, err = console.New(s.engine, sqlite.DB(s.db), console.Options{Authorize: s.person, Login: "/office/login", Logger: s.logger}); err != nil {
		return err
	}
	if _, err = oteldurable.Watch(s.telemetry.meters, s.engine.Health); err != nil { // until the meters are closed
		return err
	}
	return s.engine.Start(ctx)
}

// close lets what was sent come to its end.
func (s *server) close(ctx context.Context) error {
	s.end()
	err := s.engine.Stop(ctx)
	s.running.Wait()
	return errors.Join(err, s.telemetry.close(ctx), s.db.Close())
}

// Run serves the shop until ctx ends, and prints where it listens.
func Run(ctx context.Context, config Config) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := open(ctx, config, logger)
	if err != nil {
		return err
	}
	address := config.Listen
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		if _, err = fmt.Fprintf(os.Stdout, "listening http://%s\n", listener.Addr()); err == nil {
			err = s.serve(ctx, listener)
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	return errors.Join(err, s.close(ending))
}

func (s *server) serve(ctx context.Context, listener net.Listener) error {
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, MaxHeaderBytes: 32 << 10}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.end() // pages that wait for an outcome are let go
	s.office.Close()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if web.Shutdown(ending) != nil {
		return web.Close()
	}
	return nil
}
