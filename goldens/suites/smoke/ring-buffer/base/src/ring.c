#include "ring.h"

#include <stdlib.h>

bool ring_init(struct ring *ring, size_t capacity)
{
    ring->data = capacity > 0 ? malloc(capacity) : NULL;
    ring->capacity = ring->data != NULL ? capacity : 0;
    ring->head = 0;
    ring->count = 0;
    return ring->data != NULL;
}

void ring_free(struct ring *ring)
{
    free(ring->data);
    ring->data = NULL;
    ring->capacity = 0;
    ring->head = 0;
    ring->count = 0;
}

bool ring_put(struct ring *ring, uint8_t byte)
{
    if (ring->count == ring->capacity)
        return false;
    ring->data[(ring->head + ring->count) % ring->capacity] = byte;
    ring->count++;
    return true;
}

bool ring_get(struct ring *ring, uint8_t *byte)
{
    if (ring->count == 0)
        return false;
    *byte = ring->data[ring->head];
    ring->head = (ring->head + 1) % ring->capacity;
    ring->count--;
    return true;
}
