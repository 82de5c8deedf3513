/* The pool: every string and every list of a decoded object exists once.
 *
 * Clusters repeat themselves: a thousand pods of one Deployment have the same labels, owner,
 * containers and tolerations. The pool keeps one reference-counted copy of each distinct value, so
 * that an object is a small struct of pointers, and two equal values have equal addresses.
 *
 * Two sorts of entries:
 *  - strings: NUL-terminated; the empty string is NULL (Kubernetes treats empty and absent alike);
 *  - blobs: arrays of plain structs whose own pointers are pool entries too, so that equal contents
 * are equal bytes (the caller zeroes padding). A blob carries a tag, the table of its element type,
 * which keeps blobs of different types apart and lets `drop` release what a dying blob refers to.
 *
 * References: pool_str() and pool_blob() return a new one, pool_ref() adds one, pool_unref() gives
 * one back. pool_blob() takes over the references inside the bytes that it is given. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool;

/* Releases what `data` refers to; called when the last reference to a blob goes. */
typedef void pool_drop_fn(struct pool *pool, const void *tag, const void *data, size_t len);

struct pool *pool_new(pool_drop_fn *drop);
/* Frees everything that is left; no reference may be used afterwards. */
void pool_free(struct pool *pool);

const char *pool_str(struct pool *pool, const char *p, size_t len);
const void *pool_blob(struct pool *pool, const void *tag, const void *data, size_t len);

const void *pool_ref(const void *entry);
void pool_unref(struct pool *pool, const void *entry);

/* Bytes of an entry (without the NUL of a string); 0 for NULL. Inline, so that who walks a list can
 * be seen not to touch NULL. */
size_t pool_entry_len(const void *entry);
static inline size_t pool_len(const void *entry) {
    return entry ? pool_entry_len(entry) : 0;
}

/* What its hashes begin with, for tables of one's own over the same names. */
uint32_t pool_seed(const struct pool *pool);

struct pool_stats {
    size_t entries, bytes, strings, string_bytes;
};
struct pool_stats pool_stats(const struct pool *pool);

#endif
