package session

import (
	"sync"
	"time"
)

// Lifetime is how long a session lasts.
const Lifetime = 30 * time.Minute

// Session belongs to one person who is logged in.
type Session struct {
	User    string
	Expires time.Time
}

// Store holds the sessions of this process.
type Store struct {
	mu       sync.Mutex
	sessions map[string]*Session
}

// NewStore returns a store without sessions.
func NewStore() *Store {
	return &Store{sessions: make(map[string]*Session)}
}

// Open begins a session under a token.
func (s *Store) Open(token, user string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[token] = &Session{User: user, Expires: now.Add(Lifetime)}
}

// Close ends a session.
func (s *Store) Close(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, token)
}
