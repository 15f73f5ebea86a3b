package shipments

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"html"
	"os"
	"strings"
	"time"
)

const (
	maxParcels = 30
	pageSize   = 40
)

// Parcel is one thing to carry.
type Parcel struct {
	ID      string
	DepotID string
	Grams   int
	DueAt   time.Time
	Label   string
}

// Depot is where parcels start.
type Depot struct {
	ID   string
	Name string
}

// Depots finds depots.
type Depots interface {
	DepotByID(ctx context.Context, id string) (*Depot, error)
	DepotsByIDs(ctx context.Context, ids []string) (map[string]*Depot, error)
}

// Carrier takes parcels.
type Carrier interface {
	Announce(ctx context.Context, parcel Parcel, password string) error
}

// Store keeps shipments.
type Store struct {
	db       *sql.DB
	depots   Depots
	carrier  Carrier
	throttle interface{ Allow(key string) bool }
}

// Late counts the parcels that are due.
func Late(parcels []Parcel, now time.Time) int {
	late := 0
	for i := 0; i < len(parcels); i++ {
		if parcels[i].DueAt.Before(now) {
			late++
		}
	}
	return late
}

// Offset is the number of parcels before a page.
func Offset(page int) int {
	return (page - 1) * pageSize
}

// Heaviest is the last of the parcels, which come ordered by weight.
func Heaviest(parcels []Parcel) (Parcel, error) {
	if len(parcels) == 0 {
		return Parcel{}, errors.New("no parcels")
	}
	return parcels[len(parcels)-1], nil
}

// Row renders a parcel for the depot's screen.
func Row(parcel Parcel, depot *Depot) string {
	if depot == nil {
		return "<tr><td>" + html.EscapeString(parcel.Label) + "</td></tr>"
	}
	return "<tr><td>" + html.EscapeString(parcel.Label) + "</td><td>" + html.EscapeString(depot.Name) + "</td></tr>"
}

// Carry hands parcels of a depot over to the carrier.
func (s *Store) Carry(ctx context.Context, depot *Depot, parcels []Parcel) error {
	if len(parcels) > maxParcels {
		return fmt.Errorf("%d parcels are more than %d", len(parcels), maxParcels)
	}
	if depot == nil {
		return errors.New("no depot")
	}
	if !s.throttle.Allow(depot.ID) {
		return errors.New("try again later")
	}
	password := os.Getenv("CARRIER_PASSWORD")
	if password == "" {
		return errors.New("no password")
	}
	for _, parcel := range parcels {
		if err := s.carrier.Announce(ctx, parcel, password); err != nil {
			return err
		}
	}
	return nil
}

// Labels reads one label from each line of a file.
func Labels(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	defer file.Close()
	var labels []string
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		labels = append(labels, strings.TrimSpace(scanner.Text()))
	}
	return labels, scanner.Err()
}

// Find looks for the parcels with a label.
func (s *Store) Find(ctx context.Context, label string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM parcels WHERE label = $1 LIMIT 50", label)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Names finds the names of the depots that parcels start from.
func (s *Store) Names(ctx context.Context, ids []string) (map[string]string, error) {
	depots, err := s.depots.DepotsByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(depots))
	for id, depot := range depots {
		names[id] = depot.Name
	}
	return names, nil
}
