/* Warnings, shortened until they fit. */
#include "sim/warnings.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

enum {
    TOTAL_RUNES = 4096, /* truncateAtTotalRunes */
    ITEM_RUNES = 256,   /* truncateItemRunes */
    /* Each that is sent has at least one character: more cannot be. Keeps what cannot be sent from
     * being compared for ever. */
    MAX_TEXTS = TOTAL_RUNES,
};

struct recorder {
    struct warnings *out;
    VEC(const char *) ordered;
    size_t written; /* characters of texts in headers */
    bool cutting;
};

/* The header of a text that is cut to `most` characters; NULL when it cannot be one, for control
 * characters or because it is no UTF-8. */
static char *header_of(const char *text, size_t most, size_t *runes) {
    _cleanup_str_ struct str out = STR_INIT;
    size_t left = strlen(text), n = 0;
    str_add(&out, "299 - \"");
    while (left && n < most) {
        size_t len = utf8_len(text, left);
        uint32_t c = len ? utf8_decode(text, len) : 0;
        if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            return NULL;
        if (c == '"' || c == '\\')
            str_addc(&out, '\\');
        str_addn(&out, text, len);
        text += len;
        left -= len;
        n++;
    }
    str_addc(&out, '"');
    *runes = n;
    return str_take(&out);
}

static void forget(struct warnings *w) {
    for (size_t i = 0; i < w->headers.len; i++)
        free(w->headers.p[i]);
    w->headers.len = 0;
}

static void begin_cutting(struct recorder *r) {
    r->cutting = true;
    r->written = 0;
    forget(r->out);
    for (size_t i = 0; i < r->ordered.len; i++) {
        size_t runes;
        char *header = header_of(r->ordered.p[i], ITEM_RUNES, &runes);
        if (!header)
            continue;
        *vec_push(&r->out->headers) = header;
        r->written += runes;
    }
}

static void record(struct recorder *r, const char *text) {
    if (!*text || (r->cutting && r->written >= TOTAL_RUNES) || r->ordered.len == MAX_TEXTS)
        return;
    for (size_t i = 0; i < r->ordered.len; i++)
        if (strcmp(r->ordered.p[i], text) == 0)
            return;
    *vec_push(&r->ordered) = text;
    size_t runes;
    char *header = header_of(text, r->cutting ? (size_t)ITEM_RUNES : SIZE_MAX, &runes);
    if (!header)
        return;
    if (r->cutting || r->written + runes <= TOTAL_RUNES) {
        *vec_push(&r->out->headers) = header;
        r->written += runes;
        return;
    }
    free(header);
    begin_cutting(r);
}

void warnings_init(struct warnings *w, char *const *texts, size_t n) {
    *w = (struct warnings){0};
    struct recorder r = {.out = w};
    for (size_t i = 0; i < n; i++)
        record(&r, texts[i]);
    vec_done(&r.ordered);
}

void warnings_done(struct warnings *w) {
    forget(w);
    vec_done(&w->headers);
}
