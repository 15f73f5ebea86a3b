package delivery

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// Sender posts events.
type Sender struct {
	Client   *http.Client
	Attempts int           // 0 means 1
	Pause    time.Duration // before the second attempt; doubles each time
}

// Send posts one event. Any answer of the 2xx family counts as accepted. While the endpoint is unreachable or
// answers with a 5xx status, the event is posted again, up to Attempts times.
func (s *Sender) Send(ctx context.Context, event Event) error {
	attempts, pause := max(1, s.Attempts), s.Pause
	var last error
	for attempt := 0; attempt < attempts; attempt++ {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return fmt.Errorf("event %s: %w", event.ID, ctx.Err())
			case <-time.After(pause):
				pause *= 2
			}
		}
		response, err := s.post(ctx, event)
		if err != nil {
			last = err
			continue
		}
		if response.StatusCode >= 500 {
			last = fmt.Errorf("endpoint answered %s", response.Status)
			continue
		}
		defer response.Body.Close()
		if response.StatusCode/100 != 2 {
			return fmt.Errorf("event %s: endpoint answered %s", event.ID, response.Status)
		}
		return nil
	}
	return fmt.Errorf("event %s: %d attempts: %w", event.ID, attempts, last)
}

func (s *Sender) post(ctx context.Context, event Event) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, event.Endpoint, bytes.NewReader(event.Payload))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Event-Id", event.ID)
	return s.Client.Do(request)
}
