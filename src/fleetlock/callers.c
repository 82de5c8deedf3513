/* Those who ask, by their addresses. */
#include "fleetlock/callers.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

enum {
    SETS = 2048, /* a power of two; with the ways, more callers than there are nodes in a cluster */
    WAYS = 4,
    ADDRESS = 16, /* bytes, IPv4 as ::ffff:a.b.c.d */
};

#define TOKEN (60 * USEC_PER_SEC)

struct bucket {
    uint64_t key;  /* 0: nobody's */
    int64_t level; /* tokens, each of TOKEN: so many come in a microsecond at one a minute */
    int64_t at;
};

struct callers {
    uint32_t seeds[2];
    struct bucket buckets[SETS][WAYS];
};

struct callers *callers_new(void) {
    struct callers *c = xnew(struct callers);
    c->seeds[0] = hash_seed();
    c->seeds[1] = ~c->seeds[0];
    return c;
}

void callers_free(struct callers *c) {
    free(c);
}

/* --- addresses --- */

static bool read_address(const char *text, uint8_t out[static ADDRESS]) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (inet_pton(AF_INET6, text, out) == 1)
        return true;
    memcpy(out, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, out + sizeof mapped) == 1;
}

/* "10.0.0.7:4711", "[fe80::1%eth0]:4711". */
static bool read_peer(const char *peer, uint8_t out[static ADDRESS]) {
    char text[INET6_ADDRSTRLEN];
    const char *colon = strrchr(peer, ':');
    bool six = peer[0] == '[';
    const char *begin = peer + six;
    size_t len = six ? strcspn(begin, "%]") : colon ? (size_t)(colon - begin) : 0;
    if (!len || len >= sizeof text)
        return false;
    memcpy(text, begin, len);
    text[len] = '\0';
    return read_address(text, out);
}

bool caller_is_node(const char *peer, const struct node *node) {
    uint8_t from[ADDRESS], own[ADDRESS];
    if (!read_peer(peer, from))
        return false;
    for (size_t i = 0; i < list_len(node->addresses); i++)
        if (read_address(strna(node->addresses[i].address), own) && !memcmp(from, own, ADDRESS))
            return true;
    return false;
}

/* --- buckets --- */

static uint64_t key_of(const struct callers *c, const char *peer, const char *id) {
    uint8_t from[ADDRESS] = {0}; /* what has no address is one caller */
    uint64_t key = 0;
    (void)read_peer(peer, from);
    for (size_t i = 0; i < ARRAY_LEN(c->seeds); i++)
        key = key << 32 | hash_more(hash_more(c->seeds[i], from, sizeof from), id, strlen(id));
    return key ? key : 1;
}

static void refill(struct bucket *b, unsigned rate, int64_t now) {
    int64_t full = rate * TOKEN;
    if (now - b->at >= TOKEN) /* a minute, in which all of them come */
        b->level = full;
    else
        b->level = MIN_OF(b->level + (now - b->at) * rate, full);
    b->at = now;
}

bool callers_admit(struct callers *c, const char *peer, const char *id, unsigned rate,
                   int64_t now) {
    uint64_t key = key_of(c, peer, id);
    struct bucket *set = c->buckets[key % SETS], *mine = NULL, *oldest = set;
    for (size_t i = 0; i < WAYS && !mine; i++) {
        if (set[i].key == key)
            mine = &set[i];
        if (!set[i].key || (oldest->key && set[i].at < oldest->at))
            oldest = &set[i];
    }
    if (!mine) {
        mine = oldest;
        *mine = (struct bucket){.key = key, .level = rate * TOKEN, .at = now};
    }
    refill(mine, rate, now);
    if (mine->level < TOKEN)
        return false;
    mine->level -= TOKEN;
    return true;
}
