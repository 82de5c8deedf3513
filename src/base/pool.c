/* The pool: one reference-counted copy of each distinct string and list. */
#include "base/pool.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"

/* Directly in front of an entry's bytes. 12 bytes, so that a short string and its head share one
 * small allocation; blobs have their tag before it, which also aligns them. */
struct head {
    uint32_t refs;
    uint32_t hash;
    uint32_t len; /* top bit: it is a blob */
};

struct blob_head {
    const void *tag;
    uint32_t unused;
    struct head head;
};

#define BLOB_BIT 0x80000000u
static_assert(sizeof(struct head) == 12, "strings start right after the head");
static_assert(sizeof(struct blob_head) == 24, "blobs start aligned to 8 bytes");

struct pool {
    struct htab tab; /* of pointers to the bytes */
    pool_drop_fn *drop;
    uint32_t seed; /* names come from whoever may create objects: they must not choose hashes */
};

struct key {
    const void *tag, *data;
    uint32_t len, hash; /* len with BLOB_BIT */
};

static struct head *head_of(const void *entry) {
    return (struct head *)((const char *)entry - sizeof(struct head));
}

static struct blob_head *blob_of(const void *entry) {
    return (struct blob_head *)((const char *)entry - sizeof(struct blob_head));
}

static uint32_t entry_hash(const void *entry) {
    return head_of(entry)->hash;
}

static bool entry_equal(const void *entry, const void *key_) {
    const struct key *key = key_;
    const struct head *h = head_of(entry);
    if (h->hash != key->hash || h->len != key->len)
        return false;
    if (key->len & BLOB_BIT && blob_of(entry)->tag != key->tag)
        return false;
    return memcmp(entry, key->data, key->len & ~BLOB_BIT) == 0;
}

static const struct htab_ops entry_ops = {entry_hash, entry_equal};

struct pool *pool_new(pool_drop_fn *drop) {
    struct pool *pool = xnew(struct pool);
    htab_init(&pool->tab, &entry_ops);
    pool->drop = drop;
    pool->seed = hash_seed();
    return pool;
}

static void entry_free(void *entry) {
    if (head_of(entry)->len & BLOB_BIT)
        free(blob_of(entry));
    else
        free(head_of(entry));
}

void pool_free(struct pool *pool) {
    if (!pool)
        return;
    void *e;
    for (uint32_t i = 0; (e = htab_next(&pool->tab, &i));)
        entry_free(e);
    htab_done(&pool->tab);
    free(pool);
}

const char *pool_str(struct pool *pool, const char *p, size_t len) {
    if (!len)
        return NULL;
    assert(len < BLOB_BIT);
    struct key key = {NULL, p, (uint32_t)len, hash_more(pool->seed, p, len)};
    char *found = htab_find(&pool->tab, key.hash, &key);
    if (found) {
        head_of(found)->refs++;
        return found;
    }
    struct head *h = xmalloc(sizeof *h + len + 1);
    *h = (struct head){1, key.hash, key.len};
    char *bytes = (char *)(h + 1);
    memcpy(bytes, p, len);
    bytes[len] = '\0';
    htab_insert(&pool->tab, bytes);
    return bytes;
}

const void *pool_blob(struct pool *pool, const void *tag, const void *data, size_t len) {
    if (!len)
        return NULL;
    assert(len < BLOB_BIT && tag);
    uint32_t hash = hash_more((uint32_t)(uintptr_t)tag ^ pool->seed, data, len);
    struct key key = {tag, data, (uint32_t)len | BLOB_BIT, hash};
    void *found = htab_find(&pool->tab, key.hash, &key);
    if (found) {
        head_of(found)->refs++;
        pool->drop(pool, tag, data,
                   len); /* the entry has references of its own to the same things */
        return found;
    }
    struct blob_head *h = xmalloc(sizeof *h + len);
    *h = (struct blob_head){.tag = tag, .head = {1, key.hash, key.len}};
    memcpy(h + 1, data, len);
    htab_insert(&pool->tab, h + 1);
    return h + 1;
}

const void *pool_ref(const void *entry) {
    if (entry)
        head_of(entry)->refs++;
    return entry;
}

void pool_unref(struct pool *pool, const void *entry) {
    if (!entry)
        return;
    struct head *h = head_of(entry);
    assert(h->refs > 0);
    if (--h->refs)
        return;
    struct key key = {NULL, entry, h->len, h->hash};
    if (h->len & BLOB_BIT)
        key.tag = blob_of(entry)->tag;
    void *removed = htab_remove(&pool->tab, key.hash, &key);
    assert(removed == entry);
    if (h->len & BLOB_BIT)
        pool->drop(pool, key.tag, entry, pool_len(entry));
    entry_free(removed);
}

size_t pool_entry_len(const void *entry) {
    return head_of(entry)->len & ~BLOB_BIT;
}

uint32_t pool_seed(const struct pool *pool) {
    return pool->seed;
}

struct pool_stats pool_stats(const struct pool *pool) {
    struct pool_stats st = {0};
    void *e;
    for (uint32_t i = 0; (e = htab_next(&pool->tab, &i));) {
        st.entries++;
        st.bytes += pool_len(e);
        if (!(head_of(e)->len & BLOB_BIT)) {
            st.strings++;
            st.string_bytes += pool_len(e);
        }
    }
    return st;
}
