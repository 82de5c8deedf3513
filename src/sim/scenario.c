/* Reading scenarios. */
#include "sim/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "sim/scenario_internal.h"

/* Sums that make sense, so that a slip of the finger does not fill the memory. */
enum { MAX_COPIES = 100000 };
#define MAX_WAIT  SEC(86400 * 365)
#define MIN_EVERY SEC(1)

static const struct yaml_field top_fields[] = {
    YAML_FIELD("description", YAML_T_STR, struct scenario, description, .required = true),
    YAML_FIELD("try", YAML_T_STRS, struct scenario, tries),
    YAML_FIELD("nodes", YAML_T_LIST, struct scenario, nodes),
    YAML_FIELD("objects", YAML_T_LIST, struct scenario, objects),
    YAML_FIELD("settle", YAML_T_STR, struct scenario, settle_text),
    YAML_FIELD("events", YAML_T_LIST, struct scenario, events),
};

static const struct yaml_field group_fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct node_group, name, .required = true),
    YAML_FIELD("count", YAML_T_INT, struct node_group, count, .min = 0, .max = SCENARIO_MAX_NODES),
    YAML_FIELD("default", YAML_T_BOOL, struct node_group, main),
    YAML_FIELD("zones", YAML_T_STRS, struct node_group, zones),
    YAML_FIELD("region", YAML_T_STR, struct node_group, region),
    YAML_FIELD("roles", YAML_T_STRS, struct node_group, roles),
    YAML_FIELD("cpu", YAML_T_INT, struct node_group, cpu, .min = 1, .max = 4096),
    YAML_FIELD("memory", YAML_T_STR, struct node_group, memory),
    YAML_FIELD("storage", YAML_T_STR, struct node_group, storage),
    YAML_FIELD("pods", YAML_T_INT, struct node_group, pods, .min = 0, .max = 10000),
    YAML_FIELD("labels", YAML_T_OBJECT, struct node_group, labels),
    YAML_FIELD("annotations", YAML_T_OBJECT, struct node_group, annotations),
    YAML_FIELD("taints", YAML_T_LIST, struct node_group, taints),
    YAML_FIELD("unschedulable", YAML_T_BOOL, struct node_group, unschedulable),
    YAML_FIELD("staticPods", YAML_T_LIST, struct node_group, static_pods),
};

static const struct yaml_field event_fields[] = {
    YAML_FIELD("after", YAML_T_STR, struct scenario_event, after_text, .required = true),
    YAML_FIELD("every", YAML_T_STR, struct scenario_event, every_text),
    YAML_FIELD("node", YAML_T_STR, struct scenario_event, node),
    YAML_FIELD("do", YAML_T_STR, struct scenario_event, what),
    YAML_FIELD("delete", YAML_T_OBJECT, struct scenario_event, delete_map),
    YAML_FIELD("apply", YAML_T_OBJECT, struct scenario_event, apply),
};

static const struct yaml_field delete_fields[] = {
    YAML_FIELD("apiVersion", YAML_T_STR, struct delete_event, version),
    YAML_FIELD("kind", YAML_T_STR, struct delete_event, kind, .required = true),
    YAML_FIELD("namespace", YAML_T_STR, struct delete_event, ns),
    YAML_FIELD("name", YAML_T_STR, struct delete_event, name, .required = true),
};

static const struct machine_deed deeds[] = {
    {"reboot", machine_reboot},
    {"off", machine_off},
    {"on", machine_on},
    {"hang", machine_hang},
};

/* --- groups --- */

/* The digits at `*p`, at most nine of them: their number and value. */
static int read_number(const char **p, int64_t *out) {
    int n = 0;
    *out = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++, n++)
        if (n < 9)
            *out = *out * 10 + (**p - '0');
    return n <= 9 ? n : 0;
}

/* "w" is w1, w2, ...; "w[001-040]b" is w001b to w040b, and beyond when there are to be more. */
static int read_name(const struct scenario *s, const json_t *item, struct node_group *g,
                     struct err *err) {
    struct yaml_pos pos = yaml_value_pos(s->doc, item, "name");
    const char *open = strpbrk(g->name, "[]");
    g->first = 1;
    g->digits = 1;
    g->prefix = open ? (size_t)(open - g->name) : strlen(g->name);
    g->suffix = "";
    if (!open)
        return 0;
    const char *p = open + 1;
    int64_t last = 0;
    int digits = *open == '[' ? read_number(&p, &g->first) : 0;
    int more = digits && *p == '-' ? (p++, read_number(&p, &last)) : 0;
    if (!digits || !more || *p != ']' || strpbrk(p + 1, "[]") || last < g->first)
        return yaml_err(s->doc, pos, err,
                        "\"%s\" does not say how nodes are numbered: write a name alone, or FIRST "
                        "and LAST number in brackets, as in \"w[001-040]\"",
                        g->name);
    g->digits = digits;
    g->suffix = p + 1;
    int64_t count = last - g->first + 1;
    if (count > SCENARIO_MAX_NODES)
        return yaml_err(s->doc, pos, err, "\"%s\" is more than %d nodes", g->name,
                        SCENARIO_MAX_NODES);
    if (json_object_get(item, "count") && g->count != count)
        return yaml_err(s->doc, yaml_value_pos(s->doc, item, "count"), err,
                        "count is %" PRId64 ", but \"%s\" is %" PRId64 " nodes: leave one out",
                        g->count, g->name, count);
    g->count = count;
    return 0;
}

static int read_groups(struct scenario *s, struct err *err) {
    bool chosen = false;
    for (size_t i = 0; i < json_array_size(s->nodes); i++) {
        const json_t *item = json_array_get(s->nodes, i);
        struct yaml_pos pos = yaml_item_pos(s->doc, s->nodes, i);
        struct node_group *g = vec_push(&s->groups);
        *g = (struct node_group){.count = 1, .cpu = 8, .pods = 110};
        int rc = yaml_read(s->doc, item, pos, "group of nodes", group_fields,
                           ARRAY_LEN(group_fields), g, err);
        if (!rc)
            rc = read_name(s, item, g, err);
        if (!rc && g->main && chosen)
            rc = yaml_err(s->doc, yaml_key_pos(s->doc, item, "default"), err,
                          "only one group of nodes can be the default one");
        chosen = chosen || g->main;
        if (rc)
            return rc;
    }
    return 0;
}

const struct node_group *scenario_main_group(const struct scenario *s) {
    for (size_t i = 0; i < s->groups.len; i++)
        if (s->groups.p[i].main)
            return &s->groups.p[i];
    return s->groups.len ? &s->groups.p[0] : NULL;
}

size_t scenario_node_count(const struct scenario *s, size_t nodes) {
    const struct node_group *main_group = scenario_main_group(s);
    size_t n = 0;
    for (size_t i = 0; i < s->groups.len; i++)
        n += nodes && &s->groups.p[i] == main_group ? nodes : (size_t)s->groups.p[i].count;
    return n;
}

/* --- objects --- */

int scenario_copies(const struct scenario *s, const json_t *object, size_t nodes, int64_t *out,
                    struct err *err) {
    const json_t *v = json_object_get(object, "copies");
    const char *text = json_string_value(v);
    *out = v ? -1 : 1;
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
    } else if (text && str_starts(text, "nodes")) {
        const char *p = text + strlen("nodes");
        int64_t share = 1;
        bool good = !*p || (*p == '/' && (p++, read_number(&p, &share) > 0) && share > 0 && !*p);
        if (good)
            *out = ((int64_t)nodes + share - 1) / share;
    }
    if (*out < 0 || *out > MAX_COPIES)
        return yaml_err(s->doc, yaml_value_pos(s->doc, object, "copies"), err,
                        "\"copies\" must be a whole number from 0 to %d, or \"nodes\" (one for "
                        "each node), or \"nodes/10\" (one for every ten)",
                        MAX_COPIES);
    return 0;
}

/* What can be said of an object before there is an API: that there is something to create. */
static int check_object(const struct scenario *s, const json_t *obj, struct yaml_pos pos,
                        struct err *err) {
    if (!json_is_object(obj))
        return yaml_err(s->doc, pos, err, "an object must be a mapping, not %s",
                        json_type_words(obj));
    static const char *const needed[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (str_empty(json_str(obj, needed[i])))
            return yaml_err(s->doc, pos, err, "the object has no %s", needed[i]);
    const json_t *meta = json_object_get(obj, "metadata");
    if (str_empty(json_str(meta, "name")) && str_empty(json_str(meta, "generateName")))
        return yaml_err(s->doc, pos, err, "the object has no metadata.name");
    return 0;
}

static int check_objects(struct scenario *s, struct err *err) {
    for (size_t i = 0; i < json_array_size(s->objects); i++) {
        const json_t *obj = json_array_get(s->objects, i);
        int64_t copies;
        int rc = check_object(s, obj, yaml_item_pos(s->doc, s->objects, i), err);
        if (!rc)
            rc = scenario_copies(s, obj, 0, &copies, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- annotations --- */

/* Those of the simulator, wherever they stand: in groups of nodes, objects, templates in them, and
 * what events apply. A value that is made of a copy's number is not known here. */
static int check_annotations(const struct scenario *s, const json_t *v, struct err *err) {
    json_t *item;
    const char *key;
    size_t i;
    int rc = 0;
    json_array_foreach(v, i, item) {
        if ((rc = check_annotations(s, item, err)))
            return rc;
    }
    const json_t *map = json_object_get(v, "annotations");
    json_object_foreach((json_t *)map, key, item) {
        _cleanup_err_ struct err why = ERR_INIT;
        const char *text = json_string_value(item);
        if (text && !strstr(text, "{n}") && machine_annotation_check(key, text, &why))
            return yaml_err(s->doc, yaml_value_pos(s->doc, map, key), err, "%s", err_msg(&why));
    }
    json_object_foreach((json_t *)v, key, item) {
        if ((rc = check_annotations(s, item, err)))
            return rc;
    }
    return 0;
}

/* --- events --- */

static int read_duration(const struct scenario *s, const json_t *map, const char *key,
                         const char *text, int64_t min, int64_t *out, struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    struct yaml_pos pos = yaml_value_pos(s->doc, map, key);
    if (duration_parse(text, out, &why))
        return yaml_err(s->doc, pos, err, "\"%s\": %s", key, err_msg(&why));
    char least[TIMEFMT_LEN];
    if (*out < min || *out > MAX_WAIT)
        return yaml_err(s->doc, pos, err, "\"%s\" must be between %s and a year, not %s", key,
                        duration_format(min, least), text);
    return 0;
}

static int read_deed(const struct scenario *s, const json_t *item, struct scenario_event *e,
                     struct err *err) {
    const char *names[ARRAY_LEN(deeds)];
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        names[i] = deeds[i].name;
        if (streq(names[i], e->what))
            e->deed = &deeds[i];
    }
    if (!e->deed)
        return yaml_bad_word(s->doc, yaml_value_pos(s->doc, item, "do"), "thing to do", e->what,
                             names, ARRAY_LEN(names), err);
    if (!e->node)
        return yaml_err(s->doc, e->pos, err,
                        "\"do\" needs a \"node\" that it happens to (or \"any\")");
    return 0;
}

static int read_event(struct scenario *s, const json_t *item, struct scenario_event *e,
                      struct err *err) {
    int rc =
        yaml_read(s->doc, item, e->pos, "event", event_fields, ARRAY_LEN(event_fields), e, err);
    if (!rc)
        rc = read_duration(s, item, "after", e->after_text, 0, &e->after, err);
    if (!rc && e->every_text)
        rc = read_duration(s, item, "every", e->every_text, MIN_EVERY, &e->every, err);
    if (rc)
        return rc;
    if ((e->what != NULL) + (e->delete_map != NULL) + (e->apply != NULL) != 1)
        return yaml_err(s->doc, e->pos, err,
                        "an event has one of \"do\" (with \"node\"), \"delete\" and \"apply\"");
    if (e->node && !e->what)
        return yaml_err(s->doc, yaml_key_pos(s->doc, item, "node"), err,
                        "\"node\" belongs to \"do\", which this event does not have");
    if (e->what)
        return read_deed(s, item, e, err);
    if (e->delete_map)
        return yaml_read(s->doc, e->delete_map, yaml_value_pos(s->doc, item, "delete"), "delete",
                         delete_fields, ARRAY_LEN(delete_fields), &e->gone, err);
    return check_object(s, e->apply, yaml_value_pos(s->doc, item, "apply"), err);
}

static int read_events(struct scenario *s, struct err *err) {
    size_t n = json_array_size(s->events);
    /* All of them first: alarms must not move. */
    for (size_t i = 0; i < n; i++)
        *vec_push(&s->list) =
            (struct scenario_event){.scenario = s, .pos = yaml_item_pos(s->doc, s->events, i)};
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_event(s, json_array_get(s->events, i), &s->list.p[i], err);
    return rc;
}

/* --- the whole --- */

static int read_all(struct scenario *s, struct err *err) {
    const json_t *root = yaml_root(s->doc);
    s->settle = SEC(600);
    int rc = yaml_read(s->doc, root, yaml_root_pos(s->doc), "scenario", top_fields,
                       ARRAY_LEN(top_fields), s, err);
    if (!rc && s->settle_text)
        rc = read_duration(s, root, "settle", s->settle_text, 0, &s->settle, err);
    if (!rc)
        rc = read_groups(s, err);
    if (!rc)
        rc = check_objects(s, err);
    if (!rc)
        rc = read_events(s, err);
    return rc ? rc : check_annotations(s, root, err);
}

/* Takes the document. */
static int read_doc(struct yaml_doc *doc, struct scenario **out, struct err *err) {
    struct scenario *s = xnew(struct scenario);
    s->doc = doc;
    int rc = read_all(s, err);
    if (rc)
        scenario_free(s);
    else
        *out = s;
    return rc;
}

int scenario_parse(const char *file, const char *text, size_t len, struct scenario **out,
                   struct err *err) {
    struct yaml_doc *doc;
    int rc = yaml_load(file, text, len, &doc, err);
    return rc ? rc : read_doc(doc, out, err);
}

static int no_such(const char *name, struct err *err) {
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT;
    utf8_printable(&shown, name);
    const char *near = suggest_nearest(name, scenario_names, scenario_n_rows);
    if (near)
        return err_set(err, EINVAL,
                       "there is no scenario \"%s\"; did you mean \"%s\"? (--scenario help lists "
                       "them; the name of a file has a slash or ends in .yaml)",
                       str_get(&shown), near);
    suggest_list(&list, name, scenario_names, scenario_n_rows);
    return err_set(err, EINVAL,
                   "there is no scenario \"%s\"; there are %s (--scenario help describes them; the "
                   "name of a file has a slash or ends in .yaml)",
                   str_get(&shown), str_get(&list));
}

int scenario_load(const char *name, struct scenario **out, struct err *err) {
    if (strchr(name, '/') || str_ends(name, ".yaml") || str_ends(name, ".yml")) {
        struct yaml_doc *doc;
        int rc = yaml_load_file(name, &doc, err);
        return rc ? rc : read_doc(doc, out, err);
    }
    for (size_t i = 0; i < scenario_n_rows; i++) {
        if (!streq(scenario_rows[i].name, name))
            continue;
        _cleanup_free_ char *file = xasprintf("scenarios/%s.yaml", name);
        return scenario_parse(file, scenario_rows[i].text, strlen(scenario_rows[i].text), out, err);
    }
    return no_such(name, err);
}

void scenario_free(struct scenario *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->groups.len; i++) {
        struct node_group *g = &s->groups.p[i];
        free(g->name);
        free(g->region);
        free(g->memory);
        free(g->storage);
        yaml_strs_free(g->zones);
        yaml_strs_free(g->roles);
    }
    for (size_t i = 0; i < s->list.len; i++) {
        struct scenario_event *e = &s->list.p[i];
        char *texts[] = {e->node,         e->what,      e->after_text, e->every_text,
                         e->gone.version, e->gone.kind, e->gone.ns,    e->gone.name};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            free(texts[k]);
    }
    vec_done(&s->groups);
    vec_done(&s->list);
    free(s->description);
    free(s->settle_text);
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
