package delivery

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

// Sender posts events.
type Sender struct {
	Client *http.Client
}

// Send posts one event. Any answer of the 2xx family counts as accepted.
func (s *Sender) Send(ctx context.Context, event Event) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, event.Endpoint, bytes.NewReader(event.Payload))
	if err != nil {
		return fmt.Errorf("event %s: %w", event.ID, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Event-Id", event.ID)
	response, err := s.Client.Do(request)
	if err != nil {
		return fmt.Errorf("event %s: %w", event.ID, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("event %s: endpoint answered %s", event.ID, response.Status)
	}
	return nil
}
