#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A first-in first-out buffer of bytes with a fixed capacity. */
struct ring {
    uint8_t *data;
    size_t capacity;
    size_t head;  /* where the oldest byte is */
    size_t count; /* how many bytes are stored */
};

bool ring_init(struct ring *ring, size_t capacity);
void ring_free(struct ring *ring);
bool ring_put(struct ring *ring, uint8_t byte);
bool ring_get(struct ring *ring, uint8_t *byte);

#endif
