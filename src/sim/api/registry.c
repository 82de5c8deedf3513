/* Create, update, delete. */
#include "sim/api/registry.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "sim/api/custom.h"
#include "sim/api/names.h"
#include "sim/api/rules.h"
#include "sim/schema/goquote.h"
#include "sim/schema/text.h"

/* --- metadata --- */

json_t *meta_of(json_t *obj) {
    return json_object_get(obj, "metadata");
}

const char *meta_str(const json_t *obj, const char *key) {
    return json_str(json_object_get(obj, "metadata"), key);
}

int64_t meta_int(const json_t *obj, const char *key, int64_t absent) {
    const json_t *v = json_object_get(json_object_get(obj, "metadata"), key);
    return json_is_integer(v) ? json_integer_value(v) : absent;
}

void meta_set_str(json_t *obj, const char *key, const char *value) {
    if (str_empty(value))
        json_object_del(meta_of(obj), key);
    else
        json_object_set_new(meta_of(obj), key, json_string(value));
}

void meta_set_time(json_t *obj, const char *key, int64_t time) {
    char text[TIMEFMT_LEN];
    meta_set_str(obj, key, time_format(time, false, text));
}

void meta_order(json_t *obj) {
    static const char *const keys[] = {
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
    };
    json_t *old = meta_of(obj), *sorted = json_object();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *v = json_object_get(old, keys[i]);
        if (v && !json_is_null(v))
            json_object_set(sorted, keys[i], v);
    }
    json_object_set_new(obj, "metadata", sorted);
}

static size_t n_finalizers(const json_t *obj) {
    return json_array_size(json_object_get(json_object_get(obj, "metadata"), "finalizers"));
}

/* --- what all writes begin and end with --- */

static const char *group_of(const struct write *w) {
    return w->res->info->group;
}
static const char *plural_of(const struct write *w) {
    return w->res->info->plural;
}

/* Of what can be no key in etcd, whatever the kind. */
static int check_segment(const char *name, struct failure *f) {
    if (!*name)
        return fail_bad_request(f, "name must be provided");
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_path_segment(name, &p);
    if (!p.v.len)
        return 0;
    _cleanup_free_ char *why = problems_join(&p, ";");
    _cleanup_str_ struct str shown = STR_INIT;
    goquote(&shown, name, strlen(name));
    return fail_bad_request(f, "Name parameter invalid: %s: %s", str_get(&shown), why);
}

int registry_get(const struct write *w, struct record **out, struct failure *f) {
    if (check_segment(w->name, f))
        return -1;
    *out = shelf_get(w->res->shelf, w->ns, w->name);
    return *out ? 0 : fail_not_found(f, group_of(w), plural_of(w), w->name);
}

/* At least how many bytes its text has; counts no further than `most`. */
static size_t text_size(const json_t *v, size_t most) {
    size_t n = 2, i;
    json_t *each;
    if (json_is_string(v))
        return n + json_string_length(v);
    json_array_foreach(v, i, each) {
        if ((n += text_size(each, most)) > most)
            return n;
    }
    for (void *at = json_object_iter((json_t *)v); at; at = json_object_iter_next((json_t *)v, at))
        if ((n += json_object_iter_key_len(at) + text_size(json_object_iter_value(at), most)) >
            most)
            return n;
    return n;
}

/* What etcd would not take: its default of 1.5 MiB for a request, which holds the object as it is
 * stored, in protobuf or (custom ones) as text. Its client refuses what is more than 2 MiB. */
static int check_size(const struct write *w, const json_t *obj, struct failure *f) {
    enum { REQUEST = 3 << 19, MESSAGE = 2 << 20, AROUND = 256 };
    if (text_size(obj, REQUEST) <= REQUEST / 8) /* escapes are up to six times as long */
        return 0;
    _cleanup_str_ struct str text = STR_INIT, message = STR_INIT;
    text_value(obj, &text);
    size_t size = text.len;
    if (w->res->schema &&
        !schema_to_pb(w->res->schema, (struct view){str_get(&text), text.len}, &message, NULL))
        size = message.len;
    size += AROUND;
    if (size > MESSAGE)
        return fail(f, 500, "",
                    "rpc error: code = ResourceExhausted desc = trying to send message "
                    "larger than max (%zu vs. %d)",
                    size, MESSAGE);
    if (size > REQUEST)
        return fail(f, 500, "", "etcdserver: request is too large");
    return 0;
}

/* Stores the object, or for a dry run only makes its record. */
static int store(const struct write *w, json_t *obj, struct record **out, struct failure *f) {
    struct world *world = w->api->world;
    _cleanup_err_ struct err err = ERR_INIT;
    meta_order(obj);
    struct record *r;
    if (!w->dry_run && check_size(w, obj, f))
        return -1;
    if (!w->dry_run && world->stored > WORLD_QUOTA)
        return fail(f, 500, "", "etcdserver: mvcc: database space exceeded");
    if (w->dry_run) {
        uint64_t version = strtoull(strna(meta_str(obj, "resourceVersion")), NULL, 10);
        const struct kind *kind = shelf_kind(w->res->shelf);
        r = record_of(&world->codec, kind, obj, version, &err);
    } else {
        r = shelf_put(w->res->shelf, obj, &err);
        if (r)
            record_ref(r);
    }
    if (!r)
        return fail(f, 413, "RequestEntityTooLarge", "the object is too large to be stored: %s",
                    err_msg(&err));
    *out = r;
    return 0;
}

static int check_namespace(const struct write *w, json_t *obj, struct failure *f) {
    const char *ns = strna(meta_str(obj, "namespace"));
    if (!meta_of(obj))
        json_object_set_new(obj, "metadata", json_object());
    if (!w->res->info->namespaced) {
        meta_set_str(obj, "namespace", NULL);
        return 0;
    }
    if (!*ns)
        meta_set_str(obj, "namespace", w->ns);
    else if (!str_same(ns, w->ns))
        return fail_bad_request(f, "the namespace of the provided object does not match the "
                                   "namespace sent on the request");
    return 0;
}

/* --- create --- */

/* The NamespaceLifecycle admission plug-in. */
int registry_check_namespace(const struct write *w, const char *name, struct failure *f) {
    if (!w->res->info->namespaced)
        return 0;
    const struct record *r = shelf_get(w->api->namespaces->shelf, NULL, w->ns);
    if (!r)
        return fail_not_found(f, "", "namespaces", w->ns);
    if (!r->obj->meta.deleted)
        return 0;
    fail_forbidden(f, group_of(w), plural_of(w), strna(name),
                   "unable to create new content in namespace %s because it is being terminated",
                   w->ns);
    _cleanup_free_ char *why = xasprintf("namespace %s is being terminated", w->ns);
    failure_cause(f, "NamespaceTerminating", why, "metadata.namespace");
    return -1;
}

/* What a client that asked for a generated name learns when it is taken. */
static int taken(const struct write *w, const struct record *there, bool generated,
                 struct failure *f) {
    const char *name = there->obj->meta.name;
    fail_exists(f, group_of(w), plural_of(w), name);
    if (generated) {
        free(f->message);
        _cleanup_str_ struct str what = STR_INIT;
        str_add(&what, plural_of(w));
        if (*group_of(w))
            str_addf(&what, ".%s", group_of(w));
        f->message = xasprintf("%s \"%s\" already exists, the server was not able to generate a "
                               "unique name for the object",
                               str_get(&what), name);
    } else if (there->obj->meta.deleted) {
        char *message = xasprintf("object is being deleted: %s", f->message);
        free(f->message);
        f->message = message;
    }
    return -1;
}

enum { NAME_TRIES = 8 }; /* as the real server's */

int registry_create(const struct write *w, json_t **obj, struct record **out, struct failure *f) {
    if (check_namespace(w, *obj, f) || registry_check_namespace(w, meta_str(*obj, "name"), f))
        return -1;
    const char *version = strna(meta_str(*obj, "resourceVersion"));
    bool versioned =
        strspn(version, "0") < strlen(version) && strspn(version, "0123456789") == strlen(version);
    bool generated =
        !str_empty(meta_str(*obj, "generateName")) && str_empty(meta_str(*obj, "name"));
    _cleanup_json_ json_t *sent = generated ? json_deep_copy(*obj) : NULL;
    for (int i = 0;; i++) {
        if (rules_create(w->api, w->res, w->sub, obj, f))
            return -1;
        if (versioned && !w->dry_run) /* only the storage minds */
            return fail(f, 500, "", "resourceVersion should not be set on objects to be created");
        const char *name = meta_str(*obj, "name");
        const struct record *there = shelf_get(w->res->shelf, w->ns, name);
        if (!there)
            return store(w, *obj, out, f);
        if (!generated || i + 1 == NAME_TRIES)
            return taken(w, there, generated, f);
        json_decref(*obj);
        *obj = json_deep_copy(sent);
    }
}

/* --- update --- */

static int remove_record(const struct write *w, struct record *r, struct record **out) {
    record_ref(r);
    if (!w->dry_run)
        shelf_remove(w->res->shelf, shelf_get(w->res->shelf, w->ns, w->name));
    *out = r;
    return 0;
}

int registry_fail_uid(const struct write *w, const char *given, const char *found,
                      struct failure *f) {
    /* Where the real server keeps it in etcd: SpecialDefaultResourcePrefixes. */
    const char *plural = plural_of(w);
    bool grouped = w->res->info->custom || w->res == w->api->crds;
    const char *prefix = *group_of(w)                ? plural
                         : streq(plural, "nodes")    ? "minions"
                         : streq(plural, "services") ? "services/specs"
                                                     : plural;
    _cleanup_str_ struct str key = STR_INIT;
    /* A dry run asks above the layer that adds the root. */
    str_addf(&key, "%s/%s%s%s/", w->dry_run ? "" : "/registry", grouped ? group_of(w) : "",
             grouped ? "/" : "", prefix);
    if (w->res->info->namespaced)
        str_addf(&key, "%s/", strna(w->ns));
    str_add(&key, w->name);
    return fail_conflict(f, group_of(w), plural, w->name,
                         "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "
                         "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in "
                         "object meta: %s",
                         str_get(&key), given, strna(found));
}

static int check_version(const json_t *obj, struct failure *f) {
    const char *given = strna(meta_str(obj, "resourceVersion"));
    if (strspn(given, "0123456789") != strlen(given))
        return fail(f, 500, "", "strconv.ParseUint: parsing \"%s\": invalid syntax", given);
    return 0;
}

int registry_update(const struct write *w, json_t **obj, struct record **out, bool *created,
                    struct failure *f) {
    struct record *old_record = shelf_get(w->res->shelf, w->ns, w->name);
    *created = false;
    const char *uid = meta_str(*obj, "uid");
    if (check_namespace(w, *obj, f))
        return -1;
    if (!old_record) {
        if (!rules_create_on_update(w->res) || w->patch)
            return fail_not_found(f, group_of(w), plural_of(w), w->name);
        if (!str_empty(uid))
            return registry_fail_uid(w, uid, NULL, f);
        if (check_version(*obj, f))
            return -1;
        if (!w->dry_run) /* only the storage gives it another one */
            meta_set_str(*obj, "resourceVersion", NULL);
        *created = true;
        return registry_create(w, obj, out, f);
    }
    _cleanup_json_ json_t *old = record_json(old_record);
    if (!w->patch && !str_empty(uid) && !str_same(uid, meta_str(old, "uid")))
        return registry_fail_uid(w, uid, meta_str(old, "uid"), f);
    if (check_version(*obj, f))
        return -1;
    if (rules_update(w->api, w->res, w->sub, obj, old, f))
        return -1;
    meta_order(*obj);
    if (json_equal(*obj, old)) { /* nothing to write, no new version */
        *out = record_ref(old_record);
        return 0;
    }
    /* The last finalizer of an object that is being deleted: it goes, as it was stored last; the
     * client gets what it sent. */
    const json_t *content = json_object_get(json_object_get(*obj, "spec"), "finalizers");
    if (meta_str(old, "deletionTimestamp") && !n_finalizers(*obj) &&
        meta_int(old, "deletionGracePeriodSeconds", 0) == 0 &&
        !(w->res == w->api->namespaces && json_array_size(content))) {
        struct write dry = *w;
        dry.dry_run = true;
        if (store(&dry, *obj, out, f))
            return -1;
        if (!w->dry_run)
            shelf_remove(w->res->shelf, old_record);
        return 0;
    }
    return store(w, *obj, out, f);
}

/* --- delete --- */

static int check_preconditions(const struct write *w, const struct delete_options *o,
                               const struct record *r, struct failure *f) {
    const struct meta *m = &r->obj->meta;
    bool uid_differs = o->uid && !str_same(o->uid, m->uid);
    bool version_differs = o->version && !str_same(o->version, m->version);
    /* Namespaces are looked at by a store of their own, in words of its own. */
    if (w->res == w->api->namespaces && (uid_differs || version_differs)) {
        const char *what = uid_differs ? "UID" : "ResourceVersion";
        return fail_conflict(f, group_of(w), w->res->info->plural, w->name,
                             "Precondition failed: %s in precondition: %s, %s in object meta: %s",
                             what, uid_differs ? o->uid : o->version, what,
                             uid_differs ? strna(m->uid) : strna(m->version));
    }
    if (uid_differs)
        return fail_conflict(f, group_of(w), w->res->info->kind, w->name,
                             "the UID in the precondition (%s) does not match the UID in record "
                             "(%s). The object might have been deleted and then recreated",
                             o->uid, strna(m->uid));
    if (version_differs)
        return fail_conflict(f, group_of(w), w->res->info->kind, w->name,
                             "the ResourceVersion in the precondition (%s) does not match the "
                             "ResourceVersion in record (%s). The object might have been modified",
                             o->version, strna(m->version));
    return 0;
}

static void bump_generation(json_t *obj) {
    int64_t g = meta_int(obj, "generation", 0);
    if (g > 0)
        json_object_set_new(meta_of(obj), "generation", json_integer(g + 1));
}

static void mark(struct world *world, json_t *obj, int64_t grace) {
    meta_set_time(obj, "deletionTimestamp", world->clock.now + clock_go_seconds(grace));
    json_object_set_new(meta_of(obj), "deletionGracePeriodSeconds", json_integer(grace));
}

/* How a pod's deletion goes on: true when it is to be written down. */
static bool begin_graceful(struct world *world, json_t *obj, const struct delete_options *o,
                           int64_t *left, bool *pending) {
    const json_t *spec = json_object_get(obj, "spec"), *status = json_object_get(obj, "status");
    int64_t asked = o->grace == ABSENT64 ? ABSENT64 : o->grace < 0 ? 1 : o->grace;
    *pending = false;
    if (meta_str(obj, "deletionTimestamp")) {
        int64_t was = meta_int(obj, "deletionGracePeriodSeconds", 0);
        if (was < 0)
            was = 1;
        if (was == 0)
            return false;
        if (asked == ABSENT64 || asked >= was) {
            *pending = true;
            return false;
        }
        int64_t due = 0;
        const char *text = meta_str(obj, "deletionTimestamp");
        time_parse(text, strlen(text), &due);
        due += clock_go_seconds(asked) - clock_go_seconds(was);
        if (due < world->clock.now) { /* never into the past */
            due = world->clock.now;
            if (asked)
                asked = 1;
        }
        meta_set_time(obj, "deletionTimestamp", due);
        json_object_set_new(meta_of(obj), "deletionGracePeriodSeconds", json_integer(asked));
        *left = asked;
        return true;
    }
    int64_t grace = asked;
    if (grace == ABSENT64) {
        const json_t *own = json_object_get(spec, "terminationGracePeriodSeconds");
        grace = json_is_integer(own) ? json_integer_value(own) : 0;
    }
    const char *phase = strna(json_str(status, "phase"));
    if (str_empty(json_str(spec, "nodeName")) || streq(phase, "Failed") ||
        streq(phase, "Succeeded"))
        grace = 0;
    if (grace < 0)
        grace = 1;
    mark(world, obj, grace);
    bump_generation(obj);
    *left = grace;
    return true;
}

/* The finalizers that the garbage collector works by; `orphans` is what the resource does when
 * nobody says anything. */
static void set_propagation(json_t *obj, const struct delete_options *o, bool orphans) {
    json_t *list = json_object_get(meta_of(obj), "finalizers");
    bool had_orphan = false, had_foreground = false;
    _cleanup_json_ json_t *kept = json_array();
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        const char *s = strna(json_string_value(v));
        if (streq(s, "orphan"))
            had_orphan = true;
        else if (streq(s, "foregroundDeletion"))
            had_foreground = true;
        else
            json_array_append(kept, v);
    }
    bool orphan, foreground;
    if (o->orphan_set) {
        orphan = o->orphan;
        foreground = false;
    } else if (o->propagation) {
        orphan = streq(o->propagation, "Orphan");
        foreground = streq(o->propagation, "Foreground");
    } else {
        orphan = had_orphan || (!had_foreground && orphans);
        foreground = had_foreground && !had_orphan;
    }
    if (orphan)
        json_array_append_new(kept, json_string("orphan"));
    if (foreground)
        json_array_append_new(kept, json_string("foregroundDeletion"));
    if (json_array_size(kept))
        json_object_set(meta_of(obj), "finalizers", kept);
    else
        json_object_del(meta_of(obj), "finalizers");
}

int registry_delete(const struct write *w, const struct delete_options *o, struct record **out,
                    bool *gone, struct failure *f) {
    struct world *world = w->api->world;
    struct record *r;
    *gone = false;
    if (registry_get(w, &r, f) || check_preconditions(w, o, r, f))
        return -1;
    _cleanup_json_ json_t *obj = record_json(r);
    bool graceful = false, pending = false;
    int64_t left = 0;
    if (w->res == w->api->pods)
        graceful = begin_graceful(world, obj, o, &left, &pending);
    if (pending) {
        *out = record_ref(r);
        return 0;
    }
    if (rules_collects_garbage(w->res))
        set_propagation(obj, o, rules_orphans(w->res));
    bool finalizers = n_finalizers(obj) > 0;
    if (w->res == w->api->namespaces) {
        static const char *const kept[] = {"default", "kube-public", "kube-system"};
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            if (streq(w->name, kept[i]))
                return fail_forbidden(f, "", "namespaces", w->name,
                                      "this namespace may not be deleted");
        /* The first time it is marked, whatever it waits for; then it waits until its contents have
         * gone, which the namespace controller sees to. */
        if (!meta_str(obj, "deletionTimestamp")) {
            meta_set_time(obj, "deletionTimestamp", world->clock.now);
            json_t *status = json_object_get(obj, "status");
            if (!status) {
                status = json_object();
                json_object_set_new(obj, "status", status);
            }
            json_object_set_new(status, "phase", json_string("Terminating"));
            return store(w, obj, out, f);
        }
        if (json_array_size(json_object_get(json_object_get(obj, "spec"), "finalizers"))) {
            *out = record_ref(r);
            return 0;
        }
    }
    if (w->res == w->api->crds) {
        if (!meta_str(obj, "deletionTimestamp")) {
            meta_set_time(obj, "deletionTimestamp", world->clock.now);
            definition_terminate(obj, world->clock.now);
            return store(w, obj, out, f);
        }
        *out = record_ref(r);
        return 0;
    } else if (!graceful && finalizers) {
        if (!meta_str(obj, "deletionTimestamp")) {
            bump_generation(obj);
            mark(world, obj, 0);
        } else if (meta_int(obj, "deletionGracePeriodSeconds", -1) != 0) {
            json_object_set_new(meta_of(obj), "deletionGracePeriodSeconds", json_integer(0));
        }
    }
    meta_order(obj);
    struct record *last = record_ref(r);
    if (graceful || finalizers) {
        _cleanup_json_ json_t *was = record_json(r);
        if (!json_equal(was, obj)) {
            record_unref(last);
            if (store(w, obj, &last, f))
                return -1;
        }
    }
    if (finalizers || left > 0) {
        *out = last;
        return 0;
    }
    *gone = true;
    int rc = remove_record(w, last, out);
    record_unref(last);
    return rc;
}
