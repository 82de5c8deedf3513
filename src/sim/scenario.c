/* Reading scenarios and playing them. */
#include "sim/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "base/yamlread.h"
#include "sim/fleet/fleet.h"
#include "sim/fleet/machine.h"

struct group {
    char *name, *region, *memory, *storage;
    int64_t count, cpu, pods;
    char **zones, **roles;
    bool first, unschedulable;
    const json_t *labels, *annotations, *taints;
};

enum deed { DO_MACHINE, DO_DELETE, DO_APPLY };

struct event {
    struct scenario *scenario;
    struct alarm alarm;
    int64_t after;
    enum deed deed;
    char *node, *what, *delay;
    const json_t *delete, *apply;
};

struct scenario {
    struct yaml_doc *doc;
    char *description, *settle;
    char **tries;
    const json_t *nodes, *objects, *events;
    VEC(struct group) groups;
    VEC(struct event) list;
    struct sim *sim;
};

static const struct yaml_field top_fields[] = {
    YAML_FIELD("description", YAML_T_STR, struct scenario, description, .required = true),
    YAML_FIELD("try", YAML_T_STRS, struct scenario, tries),
    YAML_FIELD("nodes", YAML_T_LIST, struct scenario, nodes),
    YAML_FIELD("objects", YAML_T_LIST, struct scenario, objects),
    YAML_FIELD("settle", YAML_T_STR, struct scenario, settle),
    YAML_FIELD("events", YAML_T_LIST, struct scenario, events),
};

static const struct yaml_field group_fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct group, name, .required = true),
    YAML_FIELD("count", YAML_T_INT, struct group, count, .min = 0, .max = 20000),
    YAML_FIELD("default", YAML_T_BOOL, struct group, first),
    YAML_FIELD("zones", YAML_T_STRS, struct group, zones),
    YAML_FIELD("region", YAML_T_STR, struct group, region),
    YAML_FIELD("roles", YAML_T_STRS, struct group, roles),
    YAML_FIELD("cpu", YAML_T_INT, struct group, cpu, .min = 1, .max = 4096),
    YAML_FIELD("memory", YAML_T_STR, struct group, memory),
    YAML_FIELD("storage", YAML_T_STR, struct group, storage),
    YAML_FIELD("pods", YAML_T_INT, struct group, pods, .min = 0, .max = 10000),
    YAML_FIELD("labels", YAML_T_OBJECT, struct group, labels),
    YAML_FIELD("annotations", YAML_T_OBJECT, struct group, annotations),
    YAML_FIELD("taints", YAML_T_LIST, struct group, taints),
    YAML_FIELD("unschedulable", YAML_T_BOOL, struct group, unschedulable),
};

static const struct yaml_field event_fields[] = {
    YAML_FIELD("after", YAML_T_STR, struct event, delay, .required = true),
    YAML_FIELD("node", YAML_T_STR, struct event, node),
    YAML_FIELD("do", YAML_T_STR, struct event, what),
    YAML_FIELD("delete", YAML_T_OBJECT, struct event, delete),
    YAML_FIELD("apply", YAML_T_OBJECT, struct event, apply),
};

static const char *const machine_deeds[] = {"reboot", "off", "on", "hang"};

/* --- reading --- */

static int read_groups(struct scenario *s, struct err *err) {
    for (size_t i = 0; i < json_array_size(s->nodes); i++) {
        struct yaml_pos pos = yaml_item_pos(s->doc, s->nodes, i);
        struct group *g = vec_push(&s->groups);
        *g = (struct group){.count = 1, .cpu = 8, .pods = 110};
        int rc = yaml_read(s->doc, json_array_get(s->nodes, i), pos, "group of nodes", group_fields,
                           ARRAY_LEN(group_fields), g, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_events(struct scenario *s, struct err *err) {
    size_t n = json_array_size(s->events);
    for (size_t i = 0; i < n; i++)
        *vec_push(&s->list) = (struct event){.scenario = s};
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(s->events, i);
        struct yaml_pos pos = yaml_item_pos(s->doc, s->events, i);
        struct event *e = &s->list.p[i];
        int rc =
            yaml_read(s->doc, item, pos, "event", event_fields, ARRAY_LEN(event_fields), e, err);
        if (rc)
            return rc;
        _cleanup_err_ struct err why = ERR_INIT;
        if (duration_parse(e->delay, &e->after, &why) || e->after < 0)
            return yaml_err(s->doc, yaml_value_pos(s->doc, item, "after"), err,
                            "\"%s\" is no duration: %s", e->delay, err_msg(&why));
        size_t deeds = (e->what != NULL) + (e->delete != NULL) + (e->apply != NULL);
        if (deeds != 1)
            return yaml_err(s->doc, pos, err,
                            "an event has one of \"do\" (with \"node\"), \"delete\" and \"apply\"");
        e->deed = e->what ? DO_MACHINE : e->delete ? DO_DELETE : DO_APPLY;
        if (e->what) {
            bool known = false;
            for (size_t k = 0; k < ARRAY_LEN(machine_deeds); k++)
                known = known || streq(machine_deeds[k], e->what);
            if (!known)
                return yaml_bad_word(s->doc, yaml_value_pos(s->doc, item, "do"), "thing to do",
                                     e->what, machine_deeds, ARRAY_LEN(machine_deeds), err);
            if (!e->node)
                return yaml_err(s->doc, pos, err, "\"do\" needs a \"node\" (or \"any\")");
        }
    }
    return 0;
}

static int read_all(struct scenario *s, struct err *err) {
    int rc = yaml_read(s->doc, yaml_root(s->doc), yaml_root_pos(s->doc), "scenario", top_fields,
                       ARRAY_LEN(top_fields), s, err);
    if (!rc)
        rc = read_groups(s, err);
    return rc ? rc : read_events(s, err);
}

int scenario_load(const char *name, struct scenario **out, struct err *err) {
    struct scenario *s = xnew(struct scenario);
    int rc = -ENOENT;
    if (strchr(name, '/') || str_ends(name, ".yaml") || str_ends(name, ".yml")) {
        rc = yaml_load_file(name, &s->doc, err);
    } else {
        const char **names = xcalloc(scenario_n_rows, sizeof *names);
        const struct scenario_row *row = NULL;
        for (size_t i = 0; i < scenario_n_rows; i++) {
            names[i] = scenario_rows[i].name;
            if (streq(names[i], name))
                row = &scenario_rows[i];
        }
        if (row) {
            _cleanup_free_ char *file = xasprintf("scenarios/%s.yaml", name);
            rc = yaml_load(file, row->text, strlen(row->text), &s->doc, err);
        } else {
            _cleanup_str_ struct str list = STR_INIT;
            const char *near = suggest_nearest(name, names, scenario_n_rows);
            suggest_list(&list, name, names, scenario_n_rows);
            if (near)
                rc = err_set(err, EINVAL,
                             "there is no scenario \"%s\"; did you mean \"%s\"? --scenario help "
                             "lists them, and a file must end in .yaml",
                             name, near);
            else
                rc = err_set(err, EINVAL,
                             "there is no scenario \"%s\", but %s; a file must end in .yaml", name,
                             str_get(&list));
        }
        free(names);
    }
    if (!rc)
        rc = read_all(s, err);
    if (rc) {
        scenario_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void scenario_free(struct scenario *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->groups.len; i++) {
        struct group *g = &s->groups.p[i];
        free(g->name);
        free(g->region);
        free(g->memory);
        free(g->storage);
        yaml_strs_free(g->zones);
        yaml_strs_free(g->roles);
    }
    for (size_t i = 0; i < s->list.len; i++) {
        free(s->list.p[i].node);
        free(s->list.p[i].what);
        free(s->list.p[i].delay);
    }
    vec_done(&s->groups);
    vec_done(&s->list);
    free(s->description);
    free(s->settle);
    yaml_strs_free(s->tries);
    yaml_doc_free(s->doc);
    free(s);
}

const char *scenario_description(const struct scenario *s) {
    return s->description;
}

const char *const *scenario_tries(const struct scenario *s) {
    return (const char *const *)s->tries;
}

/* --- nodes --- */

/* "w" and "w[001-040]": the name of the n-th, from 0. */
static char *node_name(const struct group *g, int64_t n) {
    const char *open = strchr(g->name, '[');
    if (!open)
        return xasprintf("%s%" PRId64, g->name, n + 1);
    size_t width = strcspn(open + 1, "-]");
    int64_t first = strtoll(open + 1, NULL, 10);
    const char *close = strchr(open, ']');
    return xasprintf("%.*s%0*" PRId64 "%s", (int)(open - g->name), g->name, (int)width, first + n,
                     close ? close + 1 : "");
}

static json_t *copy_or_new(const json_t *v) {
    return v ? json_deep_copy(v) : json_object();
}

static json_t *node_object(const struct group *g, int64_t n, const char *name) {
    json_t *labels = copy_or_new(g->labels), *annotations = copy_or_new(g->annotations);
    json_object_set_new(labels, "kubernetes.io/hostname", json_string(name));
    json_object_set_new(labels, "kubernetes.io/os", json_string("linux"));
    json_object_set_new(labels, "kubernetes.io/arch", json_string("amd64"));
    size_t zones = 0;
    while (g->zones && g->zones[zones])
        zones++;
    if (zones)
        json_object_set_new(labels, "topology.kubernetes.io/zone",
                            json_string(g->zones[(size_t)n % zones]));
    if (g->region)
        json_object_set_new(labels, "topology.kubernetes.io/region", json_string(g->region));
    for (size_t i = 0; g->roles && g->roles[i]; i++) {
        _cleanup_free_ char *key = xasprintf("node-role.kubernetes.io/%s", g->roles[i]);
        json_object_set_new(labels, key, json_string(""));
    }
    json_object_set_new(annotations, SIM_ANNOTATION "machine", json_string(""));
    json_t *spec = json_object();
    if (g->taints)
        json_object_set_new(spec, "taints", json_deep_copy(g->taints));
    if (g->unschedulable)
        json_object_set_new(spec, "unschedulable", json_true());
    json_t *capacity =
        json_pack("{s:o, s:s, s:s, s:o}", "cpu", json_sprintf("%" PRId64, g->cpu), "memory",
                  g->memory ? g->memory : "32Gi", "ephemeral-storage",
                  g->storage ? g->storage : "100Gi", "pods", json_sprintf("%" PRId64, g->pods));
    return json_pack("{s:{s:s, s:o, s:o}, s:o, s:{s:o, s:O}}", "metadata", "name", name, "labels",
                     labels, "annotations", annotations, "spec", spec, "status", "capacity",
                     capacity, "allocatable", capacity);
}

static int create_nodes(struct scenario *s, size_t wanted, struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    struct group *main_group = s->groups.len ? &s->groups.p[0] : NULL;
    for (size_t i = 0; i < s->groups.len; i++)
        if (s->groups.p[i].first)
            main_group = &s->groups.p[i];
    for (size_t i = 0; i < s->groups.len; i++) {
        const struct group *g = &s->groups.p[i];
        int64_t n = g == main_group && wanted ? (int64_t)wanted : g->count;
        for (int64_t k = 0; k < n; k++) {
            _cleanup_free_ char *name = node_name(g, k);
            _cleanup_failure_ struct failure failure = FAILURE_INIT;
            struct record *r = fleet_create(f, f->nodes, NULL, node_object(g, k, name), &failure);
            if (!r)
                return yaml_err(s->doc, yaml_item_pos(s->doc, s->nodes, i), err,
                                "the node \"%s\" was refused: %s", name, strna(failure.message));
            record_unref(r);
        }
    }
    return 0;
}

/* --- objects --- */

/* Replaces {n} in every string of a value. */
static json_t *numbered(const json_t *v, int64_t n) {
    if (json_is_object(v)) {
        json_t *out = json_object(), *item;
        const char *key;
        json_object_foreach((json_t *)v, key, item)
            json_object_set_new(out, key, numbered(item, n));
        return out;
    }
    if (json_is_array(v)) {
        json_t *out = json_array();
        for (size_t i = 0; i < json_array_size(v); i++)
            json_array_append_new(out, numbered(json_array_get(v, i), n));
        return out;
    }
    const char *text = json_string_value(v);
    if (!text || !strstr(text, "{n}"))
        return json_copy((json_t *)v);
    _cleanup_str_ struct str out = STR_INIT;
    for (const char *at; (at = strstr(text, "{n}")); text = at + 3) {
        str_addn(&out, text, (size_t)(at - text));
        str_addf(&out, "%" PRId64, n);
    }
    str_add(&out, text);
    return json_string(str_get(&out));
}

static struct resource *resource_of(struct fleet *f, const json_t *obj) {
    const char *version = json_str(obj, "apiVersion"), *kind = json_str(obj, "kind");
    return version && kind ? api_resource_of_kind(f->api, version, kind) : NULL;
}

/* A status that comes with the object is written after it, as a second request would. */
static void put_status(struct fleet *f, struct resource *res, struct record *r,
                       const json_t *status) {
    if (status && res->info->has_status && !res->custom)
        fleet_put_status(f, res, r, json_deep_copy(status));
}

static int create_object(struct scenario *s, const json_t *raw, struct yaml_pos pos,
                         struct err *err) {
    struct fleet *f = sim_fleet(s->sim);
    struct resource *res = resource_of(f, raw);
    if (!res)
        return yaml_err(s->doc, pos, err, "there is no kind \"%s\" in \"%s\"",
                        strna(json_str(raw, "kind")), strna(json_str(raw, "apiVersion")));
    const char *ns = meta_str(raw, "namespace");
    if (res->info->namespaced && str_empty(ns))
        ns = "default";
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    json_t *copy = json_deep_copy(raw);
    json_object_del(copy, "copies");
    struct record *r = fleet_create(f, res, res->info->namespaced ? ns : NULL, copy, &failure);
    if (!r)
        return yaml_err(s->doc, pos, err, "%s \"%s\" was refused: %s", strna(json_str(raw, "kind")),
                        strna(meta_str(raw, "name")), strna(failure.message));
    put_status(f, res, r, json_object_get(raw, "status"));
    record_unref(r);
    /* Definitions and namespaces need a moment before they can be used. */
    if (res == f->api->crds || res == f->namespaces)
        clock_run(&f->world->clock, f->world->clock.now + SEC(1));
    return 0;
}

static int create_objects(struct scenario *s, struct err *err) {
    for (size_t i = 0; i < json_array_size(s->objects); i++) {
        const json_t *raw = json_array_get(s->objects, i);
        struct yaml_pos pos = yaml_item_pos(s->doc, s->objects, i);
        if (!json_is_object(raw))
            return yaml_err(s->doc, pos, err, "an object must be a mapping, not %s",
                            json_type_words(raw));
        const json_t *copies = json_object_get(raw, "copies");
        if (copies && (!json_is_integer(copies) || json_integer_value(copies) < 0 ||
                       json_integer_value(copies) > 100000))
            return yaml_err(s->doc, yaml_value_pos(s->doc, raw, "copies"), err,
                            "\"copies\" must be a whole number from 0 to 100000");
        int64_t n = copies ? json_integer_value(copies) : 1;
        for (int64_t k = 1; k <= n; k++) {
            _cleanup_json_ json_t *one = numbered(raw, k);
            int rc = create_object(s, one, pos, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* --- events --- */

static struct machine *pick(struct fleet *f, const char *name) {
    if (!streq(name, "any"))
        return machine_find(f, name);
    struct snapshot *snap = shelf_snapshot(f->nodes->shelf);
    struct machine *m = NULL;
    if (snap->n)
        m = machine_find(
            f, snap->items[prng_range(&f->world->random, 0, (int64_t)snap->n)]->obj->meta.name);
    snapshot_unref(snap);
    return m;
}

static void happen(void *arg) {
    struct event *e = arg;
    struct fleet *f = sim_fleet(e->scenario->sim);
    if (e->deed == DO_MACHINE) {
        struct machine *m = pick(f, e->node);
        if (!m)
            return;
        if (streq(e->what, "reboot"))
            machine_reboot(m);
        else if (streq(e->what, "off"))
            machine_off(m);
        else if (streq(e->what, "on"))
            machine_on(m);
        else
            machine_hang(m);
    } else if (e->deed == DO_DELETE) {
        const char *version = json_str(e->delete, "apiVersion");
        struct resource *res = api_resource_of_kind(f->api, version ? version : "v1",
                                                    strna(json_str(e->delete, "kind")));
        if (res)
            fleet_delete(f, res, json_str(e->delete, "namespace"),
                         strna(json_str(e->delete, "name")), NULL);
    } else {
        struct resource *res = resource_of(f, e->apply);
        const char *ns = meta_str(e->apply, "namespace"), *name = strna(meta_str(e->apply, "name"));
        if (!res)
            return;
        if (res->info->namespaced && str_empty(ns))
            ns = "default";
        if (!shelf_get(res->shelf, res->info->namespaced ? ns : NULL, name)) {
            record_unref(fleet_create(f, res, ns, json_deep_copy(e->apply), NULL));
        } else {
            json_t *obj = json_deep_copy(e->apply);
            if (ns)
                json_object_set_new(json_object_get(obj, "metadata"), "namespace", json_string(ns));
            fleet_update(f, res, NULL, obj, NULL);
        }
    }
}

void scenario_stop(struct scenario *s) {
    for (size_t i = 0; s && s->sim && i < s->list.len; i++)
        clock_stop(&sim_world(s->sim)->clock, &s->list.p[i].alarm);
}

int scenario_begin(struct scenario *s, struct sim *sim, size_t nodes, struct err *err) {
    s->sim = sim;
    int64_t limit = SEC(600);
    if (s->settle) {
        _cleanup_err_ struct err why = ERR_INIT;
        if (duration_parse(s->settle, &limit, &why))
            return yaml_err(s->doc, yaml_value_pos(s->doc, yaml_root(s->doc), "settle"), err,
                            "\"%s\" is no duration: %s", s->settle, err_msg(&why));
    }
    int rc = create_nodes(s, nodes, err);
    if (rc)
        return rc;
    struct clock *clock = &sim_world(sim)->clock;
    clock_run(clock, clock->now + SEC(1)); /* the kubelets register */
    rc = create_objects(s, err);
    if (rc)
        return rc;
    (void)sim_settle(sim, limit);
    sim_compact(sim);
    for (size_t i = 0; i < s->list.len; i++)
        clock_set(clock, &s->list.p[i].alarm, clock->now + s->list.p[i].after, happen,
                  &s->list.p[i]);
    return 0;
}
