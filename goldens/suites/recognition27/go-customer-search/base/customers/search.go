package customers

import (
	"context"
	"database/sql"
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
