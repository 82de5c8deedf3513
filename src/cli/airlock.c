/* The configuration of airlock, as Policies. */
#include "cli/airlock.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/toml.h"
#include "base/utf8.h"
#include "model/own.h"

enum {
    LABEL_MAX = 63,
    SLOTS_MAX = 1000000, /* as a Policy may say (model/own_rules.h) */
};

/* What airlock has and a Policy does not, and where it is to be said instead. */
static const struct {
    const char *table, *note;
} elsewhere[] = {
    {"service",
     "address, port and tls of the service: --fleetlock-listen and --fleetlock-tls-listen of "
     "'slipway controller'"},
    {"status", "address and port of status and metrics: --http-listen of 'slipway controller'"},
    {"etcd3",
     "etcd is not used, and who holds a slot there is not taken over: wait until nobody does"},
};

/* All that airlock's file has; of tables `type` is JSON_OBJECT, of arrays of them JSON_ARRAY. */
static const struct known {
    const char *path;
    json_type type;
} known[] = {
    {"service", JSON_OBJECT},
    {"service.address", JSON_STRING},
    {"service.port", JSON_INTEGER},
    {"service.tls", JSON_TRUE},
    {"status", JSON_OBJECT},
    {"status.enabled", JSON_TRUE},
    {"status.address", JSON_STRING},
    {"status.port", JSON_INTEGER},
    {"status.tls", JSON_TRUE},
    {"etcd3", JSON_OBJECT},
    {"etcd3.endpoints", JSON_ARRAY},
    {"etcd3.transaction_timeout_ms", JSON_INTEGER},
    {"etcd3.client_cert_pub_path", JSON_STRING},
    {"etcd3.client_cert_key_path", JSON_STRING},
    {"lock", JSON_OBJECT},
    {"lock.default_group_name", JSON_STRING},
    {"lock.default_slots", JSON_INTEGER},
    {"lock.groups", JSON_OBJECT}, /* as [[lock.groups]] */
    {"lock.groups.name", JSON_STRING},
    {"lock.groups.slots", JSON_INTEGER},
};

static const struct known *find_known(const char *path) {
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (streq(known[i].path, path))
            return &known[i];
    return NULL;
}

static bool is_unknown(const char *path, struct str *why) {
    const char *words[ARRAY_LEN(known)];
    _cleanup_str_ struct str shown = STR_INIT;
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        words[n++] = known[i].path;
    const char *near = suggest_nearest(path, words, n);
    utf8_printable(&shown, path);
    str_addf(why, "airlock has no \"%s\"", str_get(&shown));
    if (near)
        str_addf(why, ": did you mean \"%s\"?", near);
    else
        str_add(why, ": is it another program's file?");
    return false;
}

static bool is_of(json_type type, const json_t *v) {
    return type == JSON_TRUE ? json_is_boolean(v) : json_typeof(v) == type;
}

/* Of what is wrong nothing is guessed: a Policy of it would let out another number of nodes. */
static bool is_good(void *arg, const struct toml_item *item, struct str *why, bool *of_value) {
    static const char *const names[] = {[JSON_OBJECT] = "a table",
                                        [JSON_ARRAY] = "a list of strings",
                                        [JSON_STRING] = "a string",
                                        [JSON_INTEGER] = "a number",
                                        [JSON_TRUE] = "true or false"};
    const struct known *k = find_known(item->path);
    bool groups = streq(item->path, "lock.groups");
    (void)arg;
    if (!k)
        return is_unknown(item->path, why);
    *of_value = true;
    if (groups && !item->many)
        str_add(why, "lock.groups is written as [[lock.groups]], once for each group");
    else if (!item->value ? k->type != JSON_OBJECT || item->many != groups
                          : !is_of(k->type, item->value))
        str_addf(why, "%s must be %s", item->path, names[k->type]);
    else if (str_ends(item->path, "slots") && item->value &&
             (json_integer_value(item->value) < 0 || json_integer_value(item->value) > SLOTS_MAX))
        str_addf(why, "%s must be 0 to %d", item->path, SLOTS_MAX);
    return !why->len;
}

/* A value of a label, and, in lower case, the name of a Policy. */
static bool is_usable(const char *group) {
    size_t len = strlen(group);
    if (!len || len > LABEL_MAX || !isalnum((unsigned char)group[0]) ||
        !isalnum((unsigned char)group[len - 1]))
        return false;
    for (const char *p = group; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-' && *p != '.')
            return false;
    return !strstr(group, "..") && !strstr(group, ".-") && !strstr(group, "-.");
}

static bool has_policy(const json_t *list, const char *name) {
    size_t i;
    const json_t *one;
    json_array_foreach(
        list, i,
        one) if (str_same(json_str(json_object_get(one, "metadata"), "name"), name)) return true;
    return false;
}

static int add_policy(const char *file, const char *group, json_int_t slots, json_t *list,
                      struct err *err) {
    _cleanup_free_ char *name = xstrdup(group);
    for (char *p = name; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    if (!is_usable(group))
        return err_set(err, EINVAL, "%s: group \"%s\" cannot be the name of a Policy and a label",
                       file, group);
    if (has_policy(list, name))
        return err_set(err, EINVAL, "%s: group \"%s\" is there twice", file, group);
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:{s:s},s:{s:{},s:I,s:{s:[s],s:i}}}", "apiVersion",
                                    OWN_GROUP "/" OWN_VERSION, "kind", "Policy", "metadata", "name",
                                    name, "spec", "nodeSelector", "maxUnavailable", slots,
                                    "fleetlock", "groups", group, "denyStatus", 423));
    return 0;
}

static int add_groups(const char *file, const json_t *lock, json_t *list, struct err *err) {
    const json_t *groups = json_object_get(lock, "groups"), *one;
    const json_t *usual = json_object_get(lock, "default_slots");
    json_int_t slots = usual ? json_integer_value(usual) : 1;
    const char *first = json_str(lock, "default_group_name");
    bool named = false;
    size_t i;
    first = first ? first : "default";
    json_array_foreach(groups, i, one) named |= str_same(json_str(one, "name"), first);
    int rc = named ? 0 : add_policy(file, first, slots, list, err);
    json_array_foreach(groups, i, one) {
        const json_t *own = json_object_get(one, "slots");
        if (!rc)
            rc = add_policy(file, strna(json_str(one, "name")),
                            own ? json_integer_value(own) : slots, list, err);
    }
    return rc;
}

/* Of several each has its nodes by their label. */
static void select_nodes(json_t *list, struct str *notes) {
    size_t i;
    json_t *one;
    if (json_array_size(list) < 2)
        return;
    json_array_foreach(list, i, one) {
        json_t *spec = json_object_get(one, "spec");
        const char *group = json_string_value(
            json_array_get(json_object_get(json_object_get(spec, "fleetlock"), "groups"), 0));
        json_object_set_new(spec, "nodeSelector",
                            json_pack("{s:{s:s}}", "matchLabels", AIRLOCK_LABEL, group));
        str_addf(notes, "the nodes of group %s need a label: kubectl label node NODE %s=%s\n",
                 group, AIRLOCK_LABEL, group);
    }
}

int airlock_import(const char *name, const char *toml, json_t **out, struct str *notes,
                   struct err *err) {
    _cleanup_json_ json_t *root = NULL, *list = json_array();
    int rc = toml_load(name, toml, &(struct toml_judge){.good = is_good}, &root, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
        if (json_object_get(root, elsewhere[i].table))
            str_addf(notes, "not carried over: [%s]: %s\n", elsewhere[i].table, elsewhere[i].note);
    rc = add_groups(name, json_object_get(root, "lock"), list, err);
    if (rc)
        return rc;
    select_nodes(list, notes);
    *out = json_incref(list);
    return 0;
}
