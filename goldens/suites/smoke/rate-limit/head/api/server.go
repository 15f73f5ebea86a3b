// Package api serves the public HTTP interface.
package api

import (
	"encoding/json"
	"net/http"
	"time"
)

// Server answers requests.
type Server struct {
	mux    *http.ServeMux
	bucket *Bucket
}

// NewServer returns a server with all routes. It answers up to perSecond requests a second on average, and burst at
// once.
func NewServer(perSecond, burst float64) *Server {
	s := &Server{mux: http.NewServeMux(), bucket: NewBucket(perSecond, burst, time.Now)}
	s.mux.HandleFunc("/v1/status", s.status)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.bucket.Take() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "ok"})
}
