// Package delivery sends events to the endpoints of our customers.
package delivery

import "sync"

// Event is one message for one endpoint.
type Event struct {
	ID       string
	Endpoint string
	Payload  []byte
}

// Queue holds the events that wait to be sent. It is safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	waiting map[string][]Event // by endpoint, oldest first
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	return &Queue{waiting: make(map[string][]Event)}
}

// Push adds an event behind those that wait for the same endpoint.
func (q *Queue) Push(event Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[event.Endpoint] = append(q.waiting[event.Endpoint], event)
}

// Pop takes the oldest event of an endpoint.
func (q *Queue) Pop(endpoint string) (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.waiting[endpoint]
	if len(events) == 0 {
		return Event{}, false
	}
	if len(events) == 1 {
		delete(q.waiting, endpoint)
	} else {
		q.waiting[endpoint] = events[1:]
	}
	return events[0], true
}
