package customers

import (
	"context"
	"database/sql"
	"fmt"
)

// Customer is one row of the list.
type Customer struct {
	ID   int64
	Name string
	City string
}

// ByCity lists the customers of a city.
func ByCity(ctx context.Context, db *sql.DB, city string) ([]Customer, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, name, city FROM customers WHERE city = $1 LIMIT 100", city)
	if err != nil {
		return nil, err
	}
	return collect(rows)
}

// ByName lists the customers whose name begins so.
func ByName(ctx context.Context, db *sql.DB, start string) ([]Customer, error) {
	query := fmt.Sprintf("SELECT id, name, city FROM customers WHERE name LIKE '%s%%' LIMIT 100", start)
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return collect(rows)
}

func collect(rows *sql.Rows) ([]Customer, error) {
	defer rows.Close()
	var found []Customer
	for rows.Next() {
		var one Customer
		if err := rows.Scan(&one.ID, &one.Name, &one.City); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}
