package storage

import (
	"database/sql"
	"errors"
	"os"
	"time"
)

const maxIdle = 5 * time.Minute

// ErrNoAddress is returned when the environment names no database.
var ErrNoAddress = errors.New("DATABASE_URL is not set")

// Primary opens the pool that requests are served from.
func Primary() (*sql.DB, error) {
	address := os.Getenv("DATABASE_URL")
	if address == "" {
		return nil, ErrNoAddress
	}
	return open(address, 20)
}

func open(address string, connections int) (*sql.DB, error) {
	pool, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetConnMaxIdleTime(maxIdle)
	return pool, nil
}
