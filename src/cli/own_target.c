/* Which Maintenances and Rollouts are meant on the command line. */
#include "cli/own_target.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "engine/maintenance.h"
#include "model/own_fields.h"

static bool is_word(const char *word, size_t len, const char *wanted) {
    return strlen(wanted) == len && !strncasecmp(word, wanted, len);
}

const struct kind *own_target_kind(const char *word, size_t len) {
    static const struct kind *const taken[] = {&kind_maintenance, &kind_rollout};
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        const struct own_resource *r = own_resource(taken[i]);
        _cleanup_free_ char *full = xasprintf("%s.%s", taken[i]->resource, OWN_GROUP),
                            *one = xasprintf("%s.%s", r->singular, OWN_GROUP);
        if (is_word(word, len, r->singular) || is_word(word, len, taken[i]->resource) ||
            is_word(word, len, r->short_name) || is_word(word, len, full) ||
            is_word(word, len, one))
            return taken[i];
    }
    return NULL;
}

const char *own_target_name(const struct own_target *t, struct arena *arena) {
    const char *kind = t->kind == &kind_node ? "node" : own_resource(t->kind)->singular;
    return arena_printf(arena, "%s/%s", kind, t->obj->meta.name);
}

/* --- one word --- */

static const struct store *store_of(const struct own_targets *t, const struct kind *kind) {
    return kind == &kind_maintenance ? t->maintenances : t->rollouts;
}

static void list_names(struct cli *cli, const struct own_targets *t, const struct kind *kind,
                       const char *word, struct str *out) {
    VEC(const char *) names = VEC_INIT;
    for (int k = 0; k < 2; k++) {
        const struct kind *each = k ? &kind_rollout : &kind_maintenance;
        size_t n = 0;
        _cleanup_free_ const struct object **all = store_sorted(store_of(t, each), &n);
        for (size_t i = 0; i < n && (!kind || kind == each); i++)
            *vec_push(&names) = own_target_name(&(struct own_target){each, all[i]}, &cli->arena);
    }
    suggest_list(out, word, names.p, names.len);
    vec_done(&names);
}

static int say_none(struct cli *cli, const struct own_targets *t, const struct kind *kind,
                    const char *name) {
    _cleanup_str_ struct str names = STR_INIT;
    list_names(cli, t, kind, name, &names);
    return cli_fail(cli, EXIT_FAILED, "there is no %s \"%s\"; nothing was changed. There are: %s",
                    kind ? kind->name : "Maintenance and no Rollout", name, str_get(&names));
}

/* Of that node: the one that is under way, else the newest. */
static const struct object *of_node(const struct own_targets *t, const char *node) {
    const struct maintenance *best = NULL;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(t->maintenances, &i));) {
        const struct maintenance *m = (const struct maintenance *)obj;
        bool over = maint_ended(maint_phase_find(m->phase));
        bool best_over = !best || maint_ended(maint_phase_find(best->phase));
        if (!str_same(m->node, node) || (over && !best_over))
            continue;
        if (!best || over != best_over || m->meta.created > best->meta.created)
            best = m;
    }
    return (const struct object *)best;
}

/* The name after "node/", or NULL. */
static const char *node_name(const char *word) {
    static const char *const names[] = {"node", "nodes", "no"};
    const char *slash = strchr(word, '/');
    for (size_t i = 0; slash && i < ARRAY_LEN(names); i++)
        if (is_word(word, (size_t)(slash - word), names[i]))
            return slash + 1;
    return NULL;
}

static int find_node(struct cli *cli, const struct own_targets *t, const char *name,
                     struct own_target *out) {
    *out = (struct own_target){&kind_node, store_get(t->nodes, NULL, name)};
    return out->obj
               ? 0
               : cli_fail(cli, EXIT_FAILED, "there is no Node \"%s\"; nothing was changed", name);
}

static int find(struct cli *cli, const struct own_targets *t, const char *word,
                struct own_target *out) {
    const char *slash = strchr(word, '/');
    const struct kind *kind = slash ? own_target_kind(word, (size_t)(slash - word)) : NULL;
    const char *name = slash ? slash + 1 : word;
    bool node = slash && node_name(word);
    if ((slash && !kind && !node) || !*name)
        return cli_usage(cli, "\"%s\" is neither maintenance/NAME nor rollout/NAME nor node/NAME",
                         word);
    if (node) {
        const struct object *its = of_node(t, name);
        bool over = !its || maint_ended(maint_phase_find(((const struct maintenance *)its)->phase));
        if (t->nodes && over)
            return find_node(cli, t, name, out);
        if (!its)
            return cli_fail(cli, EXIT_FAILED, "node \"%s\" has no Maintenance; nothing was changed",
                            name);
        *out = (struct own_target){&kind_maintenance, its};
        return 0;
    }
    const struct object *m = kind == &kind_rollout ? NULL : store_get(t->maintenances, NULL, name);
    const struct object *r = kind == &kind_maintenance ? NULL : store_get(t->rollouts, NULL, name);
    if (m && r)
        return cli_fail(cli, EXIT_REFUSED,
                        "there are a Maintenance and a Rollout \"%s\": say maintenance/%s or "
                        "rollout/%s; nothing was changed",
                        name, name, name);
    if (!m && !r && !kind)
        m = of_node(t, name);
    if (!m && !r)
        return say_none(cli, t, kind, name);
    *out = m ? (struct own_target){&kind_maintenance, m} : (struct own_target){&kind_rollout, r};
    return 0;
}

static int add(struct cli *cli, struct own_targets *t, const char *word) {
    struct own_target found = {0};
    int rc = find(cli, t, word, &found);
    if (rc)
        return rc;
    for (size_t i = 0; i < t->list.len; i++)
        if (t->list.p[i].obj == found.obj)
            return 0;
    *vec_push(&t->list) = found;
    return 0;
}

/* --- all of them --- */

int own_targets_read(struct session *s, bool nodes, int argc, char **argv,
                     struct own_targets *out) {
    bool missing = false;
    const struct session_feed feed = {
        .without = "nothing was changed", .missing = &missing, .optional = true};
    *out = (struct own_targets){0};
    out->maintenances = session_feed(s, &kind_maintenance, &feed);
    out->rollouts = session_feed(s, &kind_rollout, &feed);
    for (int i = 0; i < argc && nodes && !out->nodes; i++)
        if (node_name(argv[i]))
            out->nodes = session_feed(s, &kind_node, &(struct session_feed){0});
    int rc = session_sync(s);
    if (!rc && missing)
        rc = EXIT_ACCESS;
    for (int i = 0; i < argc && !rc; i++)
        rc = add(s->cli, out, argv[i]);
    return rc;
}

void own_targets_done(struct own_targets *t) {
    vec_done(&t->list);
}

static bool owned_by(const struct object *obj, const struct rollout *r) {
    const struct owner *o = meta_controller(&obj->meta);
    return o && str_same(o->uid, r->meta.uid);
}

const struct maintenance **own_maintenances_of(const struct own_targets *t, const struct rollout *r,
                                               size_t *n) {
    size_t all = 0, kept = 0;
    const struct object **list = store_sorted(t->maintenances, &all);
    for (size_t i = 0; i < all; i++)
        if (owned_by(list[i], r))
            list[kept++] = list[i];
    *n = kept;
    return (const struct maintenance **)list;
}
