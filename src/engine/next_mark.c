/* The mark on nodes that a drain comes to later. */
#include "engine/next_mark.h"

#include "base/timefmt.h"

static const struct taint *find(const struct node *node) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].key, NEXT_TAINT))
            return &node->taints[i];
    return NULL;
}

bool next_marked(const struct node *node) {
    return find(node);
}

bool next_marked_by(const struct node *node, const char *whose) {
    const struct taint *t = find(node);
    return t && streq(strna(t->value), whose);
}

static void write_taint(struct jsonw *w, const struct taint *t) {
    char added[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "key", strna(t->key));
    jsonw_kopt(w, "value", t->value);
    jsonw_kstr(w, "effect", strna(t->effect));
    if (t->added)
        jsonw_kstr(w, "timeAdded", time_format(t->added, false, added));
    jsonw_end(w);
}

/* A list is replaced as a whole. */
static void write_taints(struct jsonw *w, const struct node *node, const char *whose) {
    jsonw_kbegin(w, "taints", '[');
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (!str_same(node->taints[i].key, NEXT_TAINT))
            write_taint(w, &node->taints[i]);
    if (whose)
        write_taint(w, &(struct taint){.key = NEXT_TAINT,
                                       .value = *whose ? whose : NULL,
                                       .effect = "PreferNoSchedule"});
    jsonw_end(w);
}

void next_mark_patch(const struct node *node, const char *whose, struct str *patch) {
    struct jsonw w;
    jsonw_init(&w, patch, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "resourceVersion", strna(node->meta.version));
    jsonw_end(&w);
    jsonw_kbegin(&w, "spec", '{');
    write_taints(&w, node, whose);
    jsonw_end(&w);
    jsonw_end(&w);
}

void next_mark_drop(struct jsonw *w, const struct node *node) {
    if (next_marked(node))
        write_taints(w, node, NULL);
}
