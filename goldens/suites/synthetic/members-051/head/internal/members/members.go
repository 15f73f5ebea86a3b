package members

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	maxNameLength = 80
	inviteWindow  = 72 * time.Hour
	previewSize   = 8
)

var mailToken = requireEnv("MAIL_SERVICE_TOKEN")

// Member is one person of a team.
type Member struct {
	ID       string
	TeamID   string
	Name     string
	JoinedAt time.Time
}

// Invite is an open invitation.
type Invite struct {
	Email  string
	SentAt time.Time
}

// Limiter says whether a caller may go on.
type Limiter interface {
	Allow(key string) bool
}

// Members answers requests about the people of a team.
type Members struct {
	db      *sql.DB
	limiter Limiter
	client  *http.Client
}

// Expired tells whether an invitation can no longer be accepted.
func Expired(invite *Invite, now time.Time) bool {
	if invite == nil {
		return true
	}
	return now.Sub(invite.SentAt) > inviteWindow
}

// Card renders one member.
func Card(member *Member) string {
	if member == nil {
		return ""
	}
	return "<li>" + html.EscapeString(member.Name) + "</li>"
}

// Preview renders the first members of a team.
func Preview(title string, all []*Member) string {
	var page strings.Builder
	page.WriteString("<h2>" + html.EscapeString(title) + "</h2>")
	for i := 0; i < len(all) && i < previewSize; i++ {
		page.WriteString(Card(all[i]))
	}
	return page.String()
}

// Rename changes the name of a member.
func (m *Members) Rename(ctx context.Context, id, name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxNameLength {
		return errors.New("name is empty or too long")
	}
	_, err := m.db.ExecContext(ctx, "UPDATE members SET name = $1 WHERE id = $2", name, id)
	return err
}

// ByTeam lists the people of one team.
func (m *Members) ByTeam(ctx context.Context, team string) ([]*Member, error) {
	rows, err := m.db.QueryContext(ctx, "SELECT id, name FROM members WHERE team_id = $1 LIMIT 200", team)
	if err != nil {
		return nil, err
	}
	var found []*Member
	for rows.Next() {
		member := &Member{TeamID: team}
		if err := rows.Scan(&member.ID, &member.Name); err != nil {
			return nil, err
		}
		found = append(found, member)
	}
	return found, rows.Err()
}

func requireEnv(name string) string {
	value, ok := os.LookupEnv(name)
	if !ok {
		panic(name + " is not set")
	}
	return value
}

// Invite asks the mail service to invite somebody.
func (m *Members) Invite(ctx context.Context, caller, email string) error {
	if !m.limiter.Allow(caller) {
		return errors.New("too many invitations")
	}
	form := url.Values{"address": {email}}
	body := strings.NewReader(form.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://mail.internal/send", body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+mailToken)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := m.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("mail service answered %s", response.Status)
	}
	return nil
}

// ServeHTTP answers with the people of a team as JSON. The gateway sets X-Account.
func (m *Members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !m.limiter.Allow(r.Header.Get("X-Account")) {
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	}
	found, err := m.ByTeam(r.Context(), r.URL.Query().Get("team"))
	if err != nil {
		http.Error(w, "cannot be read", http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(found)
}
