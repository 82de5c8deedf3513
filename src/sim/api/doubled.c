/* A walk over JSON text with the keys of each object in a table. */
#include "sim/api/doubled.h"

#include "base/htab.h"

struct key {
    uint32_t hash;
    struct view text;
    bool told;
};

struct walk {
    const char *p, *end;
    struct str path;
    struct schema_notes *notes;
    size_t depth;
};

enum { DEPTH_MAX = 2048 }; /* jansson's */

static uint32_t key_hash(const void *entry) {
    return ((const struct key *)entry)->hash;
}
static bool key_equal(const void *entry, const void *text) {
    return view_eq(((const struct key *)entry)->text, *(const struct view *)text);
}
static const struct htab_ops key_ops = {key_hash, key_equal};

static void skip_space(struct walk *w) {
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\r' || *w->p == '\t'))
        w->p++;
}

/* The raw text of a string, without its quotes. */
static struct view string(struct walk *w) {
    const char *start = ++w->p;
    while (w->p < w->end && *w->p != '"')
        w->p += *w->p == '\\' && w->p + 1 < w->end ? 2 : 1;
    struct view v = {start, (size_t)(w->p - start)};
    w->p += w->p < w->end;
    return v;
}

static void value(struct walk *w);

static void object(struct walk *w) {
    struct htab seen;
    htab_init(&seen, &key_ops);
    VEC(struct key *) keys = VEC_INIT;
    w->p++;
    for (;;) {
        skip_space(w);
        if (w->p >= w->end || *w->p != '"')
            break;
        struct view name = string(w);
        uint32_t hash = hash_bytes(name.p, name.len);
        struct key *k = htab_find(&seen, hash, &name);
        size_t base = w->path.len;
        str_addf(&w->path, "%s%.*s", base ? "." : "", (int)name.len, name.p);
        if (!k) {
            k = xnew(struct key);
            k->hash = hash;
            k->text = name;
            htab_insert(&seen, k);
            *vec_push(&keys) = k;
        } else if (!k->told) {
            k->told = true;
            *vec_push(&w->notes->texts) = xasprintf("duplicate field \"%s\"", str_get(&w->path));
        }
        skip_space(w);
        w->p += w->p < w->end; /* the colon */
        value(w);
        w->path.len = base;
        if (w->path.p)
            w->path.p[base] = 0;
        skip_space(w);
        if (w->p >= w->end || *w->p != ',')
            break;
        w->p++;
    }
    w->p += w->p < w->end;
    for (size_t i = 0; i < keys.len; i++)
        free(keys.p[i]);
    vec_done(&keys);
    htab_done(&seen);
}

static void array(struct walk *w) {
    w->p++;
    for (size_t i = 0;; i++) {
        skip_space(w);
        if (w->p >= w->end || *w->p == ']')
            break;
        size_t base = w->path.len;
        str_addf(&w->path, "[%zu]", i);
        value(w);
        w->path.len = base;
        if (w->path.p)
            w->path.p[base] = 0;
        skip_space(w);
        if (w->p >= w->end || *w->p != ',')
            break;
        w->p++;
    }
    w->p += w->p < w->end;
}

static void value(struct walk *w) {
    skip_space(w);
    if (w->p >= w->end || w->depth >= DEPTH_MAX) {
        w->p = w->end;
        return;
    }
    w->depth++;
    if (*w->p == '{')
        object(w);
    else if (*w->p == '[')
        array(w);
    else if (*w->p == '"')
        (void)string(w);
    else
        while (w->p < w->end && !strchr(",]} \n\r\t", *w->p))
            w->p++;
    w->depth--;
}

void doubled_fields(struct view text, struct schema_notes *notes) {
    struct walk w = {.p = text.p, .end = text.p + text.len, .notes = notes};
    value(&w);
    str_done(&w.path);
}
