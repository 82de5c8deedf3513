/* What the JSON and the protobuf decoder have in common. */
#include "kube/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

void codec_init(struct codec *c, struct pool *pool) {
    *c = (struct codec){.pool = pool};
}

void codec_done(struct codec *c) {
    arena_done(&c->scratch);
    str_done(&c->text);
    str_done(&c->where);
}

void *codec_list_add(struct codec *c, struct codec_list *list) {
    if (c->room < list->size)
        return NULL;
    c->room -= list->size;
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        char *items = arena_alloc(&c->scratch, cap * list->size);
        if (list->n)
            memcpy(items, list->items, list->n * list->size);
        list->items = items;
        list->cap = cap;
    }
    void *item = list->items + list->n++ * list->size;
    memset(item, 0, list->size);
    return item;
}

void codec_list_pop(struct codec_list *list) {
    list->n--;
}

const char *codec_str(struct codec *c, struct view text) {
    if (!text.len)
        return NULL;
    if (!memchr(text.p, '\0', text.len) && utf8_valid(text.p, text.len))
        return pool_str(c->pool, text.p, text.len);
    struct str clean = STR_INIT;
    utf8_clean(&clean, text.p, text.len);
    const char *entry = pool_str(c->pool, clean.p, clean.len);
    str_done(&clean);
    return entry;
}

void codec_set(struct codec *c, void *member, const void *entry) {
    const void **m = member;
    pool_unref(c->pool, *m);
    *m = entry;
}

/* All pairs begin with their key. */
static int compare_keys(const void *a, const void *b) {
    const char *const *ka = a, *const *kb = b;
    return strcmp(strna(*ka), strna(*kb));
}

/* A stable merge sort, so that of equal keys the last one read stays last. The API server sends
 * maps sorted: it is hardly ever needed. */
static void sort_pairs(struct codec *c, struct codec_list *list) {
    size_t size = list->size, n = list->n;
    bool sorted = true;
    for (size_t i = 1; sorted && i < n; i++)
        sorted = compare_keys(list->items + (i - 1) * size, list->items + i * size) < 0;
    if (sorted)
        return;
    char *from = list->items, *to = arena_alloc(&c->scratch, n * size);
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t mid = MIN_OF(low + width, n), high = MIN_OF(low + 2 * width, n);
            for (size_t a = low, b = mid, out = low; out < high; out++) {
                bool left =
                    a < mid && (b == high || compare_keys(from + a * size, from + b * size) <= 0);
                memcpy(to + out * size, from + (left ? a++ : b++) * size, size);
            }
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    list->items = from;
}

static void drop_duplicates(struct codec *c, const struct type *type, struct codec_list *list) {
    size_t out = 0;
    for (size_t i = 0; i < list->n; i++) {
        char *item = list->items + i * list->size;
        if (i + 1 < list->n && !compare_keys(item, item + list->size)) {
            type_drop(c->pool, type, item, list->size);
            continue;
        }
        if (out != i)
            memcpy(list->items + out * list->size, item, list->size);
        out++;
    }
    list->n = out;
}

const void *codec_finish(struct codec *c, const struct type *type, struct codec_list *list) {
    if (!list->n)
        return NULL;
    if (type == &type_pair || type == &type_pair_qty || type == &type_pair_time) {
        sort_pairs(c, list);
        drop_duplicates(c, type, list);
    }
    const void *entry = pool_blob(c->pool, type, list->items, list->n * list->size);
    list->n = 0;
    return entry;
}

void codec_abandon(struct codec *c, const struct type *type, struct codec_list *list) {
    if (list->n)
        type_drop(c->pool, type, list->items, list->n * list->size);
    list->n = 0;
}
