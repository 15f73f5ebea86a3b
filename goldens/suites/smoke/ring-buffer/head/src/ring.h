#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A first-in first-out buffer of bytes. */
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

/* Reads a byte without taking it out; offset 0 is the oldest. False if nothing is stored at the offset. */
bool ring_peek(const struct ring *ring, size_t offset, uint8_t *byte);

/* Gives the buffer a larger capacity and keeps its contents. False, with nothing changed, if that is not possible. */
bool ring_grow(struct ring *ring, size_t capacity);

#endif
