/* Dropping what a schema does not know (apiextensions-apiserver pkg/apiserver/schema/pruning), and
 * nulls where there may be none (defaulting/prunenulls.go). */
#include "sim/api/structural_internal.h"

struct prune {
    struct schema_notes *notes; /* NULL: nobody wants to know */
};

/* Paths of notes are written differently from those of errors: keys of maps have dots, too. */
static void print_path(struct str *out, const struct spath *path) {
    if (path->up)
        print_path(out, path->up);
    if (path->kind == SPATH_INDEX)
        str_addf(out, "[%zu]", path->index);
    else
        str_addf(out, "%s%s", path->up ? "." : "", path->name);
}

static void note_unknown(const struct prune *p, const struct spath *path) {
    if (!p->notes)
        return;
    struct str text = STR_INIT;
    str_add(&text, "unknown field \"");
    print_path(&text, path);
    str_addc(&text, '"');
    *vec_push(&p->notes->texts) = str_take(&text);
}

static bool is_meta(const char *key) {
    return streq(key, "apiVersion") || streq(key, "kind") || streq(key, "metadata");
}

static void prune(const struct prune *p, const struct snode *n, bool resource, json_t *value,
                  const struct spath *path);

static void prune_object(const struct prune *p, const struct snode *n, bool resource, json_t *value,
                         const struct spath *path) {
    void *next;
    const char *key;
    json_t *member;
    json_object_foreach_safe(value, next, key, member) {
        const struct spath *at = SPATH_CHILD(path, key);
        const struct snode *property = n ? snode_property(n, key) : NULL;
        if (n && resource && is_meta(key))
            continue;
        if (property || (n && n->has_additional)) {
            prune(p, property ? property : n->additional, false, member, at);
        } else {
            if (!n || path || !is_meta(key))
                note_unknown(p, at);
            json_object_del(value, key);
        }
    }
}

/* The contents of a preserved value: only where the schema knows more is anything dropped. The
 * elements of a preserved list are preserved whatever their own schema says. */
static void prune_preserved(const struct prune *p, const struct snode *n, bool resource,
                            json_t *value, const struct spath *path) {
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member) {
            const struct snode *property = snode_property(n, key);
            if (resource && is_meta(key))
                continue;
            if (property || n->has_additional)
                prune(p, property ? property : n->additional, false, member,
                      SPATH_CHILD(path, key));
        }
    } else if (json_is_array(value) && n->items) {
        for (size_t i = 0; i < json_array_size(value); i++)
            prune_preserved(p, n->items, n->items->embedded, json_array_get(value, i),
                            SPATH_AT(path, i));
    }
}

static void prune_list(const struct prune *p, const struct snode *n, json_t *value,
                       const struct spath *path) {
    const struct snode *items = n ? n->items : NULL;
    for (size_t i = 0; i < json_array_size(value); i++)
        prune(p, items, false, json_array_get(value, i), SPATH_AT(path, i));
}

/* `n` NULL: nothing is known there. */
static void prune(const struct prune *p, const struct snode *n, bool resource, json_t *value,
                  const struct spath *path) {
    resource |= n && n->embedded;
    if (n && n->preserves)
        prune_preserved(p, n, resource, value, path);
    else if (json_is_object(value))
        prune_object(p, n, resource, value, path);
    else if (json_is_array(value))
        prune_list(p, n, value, path);
}

/* --- nulls --- */

static void prune_nulls(const struct snode *n, json_t *value) {
    if (json_is_object(value)) {
        void *next;
        const char *key;
        json_t *member;
        json_object_foreach_safe(value, next, key, member) {
            const struct snode *sub = n ? snode_member(n, key) : NULL;
            if (json_is_null(member) && sub && !sub->nullable && !sub->fallback)
                json_object_del(value, key);
            else
                prune_nulls(sub, member);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            prune_nulls(n ? n->items : NULL, json_array_get(value, i));
    }
}

/* --- the whole --- */

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void snode_prune(const struct snode *n, bool root, json_t *value, struct schema_notes *notes) {
    struct prune p = {notes};
    size_t before = notes ? notes->texts.len : 0;
    prune(&p, n, root, value, NULL);
    if (notes && notes->texts.len > before)
        qsort(notes->texts.p + before, notes->texts.len - before, sizeof(char *), compare_texts);
}

void structural_prune(const struct structural *s, json_t *obj, struct schema_notes *notes) {
    snode_prune(s->root, true, obj, notes);
    prune_nulls(s->root, obj);
}
