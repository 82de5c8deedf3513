/* What is known of the original: two sets of names, and habits. */
#include "sim/fleet/original.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"

struct original {
    struct habits *habits;
    struct htab strangers, detached; /* strings */
};

static uint32_t text_hash(const void *entry) {
    return hash_bytes(entry, strlen(entry));
}
static bool text_equal(const void *entry, const void *key) {
    return streq(entry, key);
}
static const struct htab_ops text_ops = {text_hash, text_equal};

static bool has(const struct htab *t, const char *text) {
    return text && htab_find(t, text_hash(text), text);
}

static void add(struct htab *t, const char *text) {
    if (!str_empty(text) && !has(t, text))
        htab_insert(t, xstrdup(text));
}

static void set_done(struct htab *t) {
    char *text;
    for (uint32_t i = 0; (text = htab_next(t, &i));)
        free(text);
    htab_done(t);
}

struct original *original_new(struct habits *habits) {
    struct original *o = xnew(struct original);
    o->habits = habits;
    htab_init(&o->strangers, &text_ops);
    htab_init(&o->detached, &text_ops);
    return o;
}

void original_free(struct original *o) {
    if (!o)
        return;
    set_done(&o->strangers);
    set_done(&o->detached);
    free(o);
}

struct habits *original_habits(const struct original *o) {
    return o->habits;
}

void original_add_stranger(struct original *o, const char *uid) {
    add(&o->strangers, uid);
}

bool original_is_stranger(const struct original *o, const char *uid) {
    return has(&o->strangers, uid);
}

void original_add_detached_driver(struct original *o, const char *driver) {
    add(&o->detached, driver);
}

bool original_driver_attaches(const struct original *o, const char *driver) {
    return !str_empty(driver) && !has(&o->detached, driver);
}
