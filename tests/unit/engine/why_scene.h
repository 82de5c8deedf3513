/* For tests of why: a small cluster out of JSON (single quotes allowed for double ones), a reader
 * that says what is there, and words to look at the answer with. */
#ifndef ENGINE_WHY_SCENE_H
#define ENGINE_WHY_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/moveout.h"
#include "engine/why.h"
#include "kube/codec.h"

#define NOW INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

#define OWNED(kind, name)                                                                          \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'" kind "','name':'" name                   \
    "','uid':'u-" name "','controller':true}]"
#define READY                                                                                      \
    "'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-11-15T07:00:00Z'}]"
#define UNREADY                                                                                    \
    "'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'2026-11-15T07:50:00Z'}]"
#define RUNNING "'status':{'phase':'Running'," READY "}"

struct scene {
    struct pool *pool;
    struct arena arena;
    struct why_world world;
    struct why why;
    /* What cannot be read, and what was never asked: resources, separated by blanks. */
    const char *forbidden, *unread;
    struct str asked; /* one line for each question */
};

static inline struct store **scene_store(struct scene *s, const struct kind *kind) {
    struct why_world *w = &s->world;
    const struct {
        const struct kind *kind;
        struct store **store;
    } stores[] = {{&kind_node, &w->nodes},
                  {&kind_pod, &w->pods},
                  {&kind_pdb, &w->budgets},
                  {&kind_replica_set, &w->replica_sets},
                  {&kind_stateful_set, &w->stateful_sets},
                  {&kind_deployment, &w->deployments},
                  {&kind_daemon_set, &w->daemon_sets},
                  {&kind_namespace, &w->namespaces},
                  {&kind_pv, &w->volumes},
                  {&kind_pvc, &w->claims},
                  {&kind_storage_class, &w->classes},
                  {&kind_csi_node, &w->csi_nodes},
                  {&kind_volume_attachment, &w->attachments},
                  {&kind_event, &w->events},
                  {&kind_job, &w->jobs},
                  {&kind_service_account, &w->accounts},
                  {&kind_resource_quota, &w->quotas}};
    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        if (stores[i].kind == kind)
            return stores[i].store;
    fail_msg("no store of %s", kind->name);
    return NULL;
}

static const struct kind *const scene_kinds[] = {&kind_node,
                                                 &kind_pod,
                                                 &kind_pdb,
                                                 &kind_replica_set,
                                                 &kind_stateful_set,
                                                 &kind_deployment,
                                                 &kind_daemon_set,
                                                 &kind_namespace,
                                                 &kind_pv,
                                                 &kind_pvc,
                                                 &kind_storage_class,
                                                 &kind_volume_attachment,
                                                 &kind_event,
                                                 &kind_job,
                                                 &kind_service_account,
                                                 &kind_resource_quota,
                                                 &kind_csi_node};

static inline enum known scene_ask(void *arg, const struct why_want *want) {
    struct scene *s = arg;
    static const char *const words[] = {
        [WHY_WANT_OBJECT] = "object",   [WHY_WANT_NODE_PODS] = "node-pods",
        [WHY_WANT_BUDGETS] = "budgets", [WHY_WANT_BUDGET_PODS] = "budget-pods",
        [WHY_WANT_QUOTAS] = "quotas",   [WHY_WANT_ATTACHMENTS] = "attachments",
        [WHY_WANT_EVENTS] = "events",   [WHY_WANT_ROOM] = "room",
        [WHY_WANT_VOLUMES] = "volumes"};
    const char *word = want->what == WHY_WANT_OBJECT ? want->kind->resource : words[want->what];
    str_addf(&s->asked, "%s %s %s %s\n", word, strna(want->ns), strna(want->name),
             strna(want->selector));
    if (s->forbidden && strstr(s->forbidden, word))
        return KNOWN_NEVER;
    if (s->unread && strstr(s->unread, word))
        return KNOWN_NOT_YET;
    if (want->what == WHY_WANT_ROOM)
        return s->world.fit ? KNOWN_THERE : KNOWN_NEVER;
    if (want->what != WHY_WANT_OBJECT)
        return KNOWN_THERE;
    return store_get(*scene_store(s, want->kind), want->ns, want->name) ? KNOWN_THERE : KNOWN_GONE;
}

static inline int scene_setup(void **state) {
    struct scene *s = xnew(struct scene);
    s->pool = pool_new(type_drop);
    for (size_t i = 0; i < ARRAY_LEN(scene_kinds); i++)
        *scene_store(s, scene_kinds[i]) = store_new(scene_kinds[i], s->pool);
    s->world.pods_by_node = store_index(s->world.pods, store_key_node);
    s->world.pdbs = pdbs_new(s->world.pods, s->world.budgets);
    s->world.waiting = s->world.pods;
    s->world.ask = scene_ask;
    s->world.arg = s;
    s->world.now = NOW;
    *state = s;
    return 0;
}

static inline int scene_teardown(void **state) {
    struct scene *s = *state;
    fit_free(s->world.fit);
    pdbs_free(s->world.pdbs);
    for (size_t i = 0; i < ARRAY_LEN(scene_kinds); i++)
        store_free(*scene_store(s, scene_kinds[i]));
    size_t left = pool_stats(s->pool).entries;
    pool_free(s->pool);
    arena_done(&s->arena);
    str_done(&s->asked);
    free(s);
    return left ? -1 : 0;
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, scene_setup, scene_teardown)

static inline const void *scene_add(struct scene *s, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    struct object *obj = object_new(kind);
    struct codec codec;
    _cleanup_err_ struct err err = ERR_INIT;
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    codec_init(&codec, s->pool);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    assert_true(store_put(*scene_store(s, kind), obj));
    return obj;
}

/* The picture of the whole cluster, from what is in the stores now. */
static inline void scene_room(struct scene *s) {
    struct why_world *w = &s->world;
    fit_free(w->fit);
    w->fit = fit_new(s->pool);
    w->room_volumes = w->room_classes = true;
    w->least_priority = moveout_least_priority(w->pods);
    moveout_fill(w->fit, &(struct moveout_stores){.nodes = w->nodes,
                                                  .pods = w->pods,
                                                  .namespaces = w->namespaces,
                                                  .volumes = w->volumes,
                                                  .claims = w->claims,
                                                  .classes = w->classes,
                                                  .csi_nodes = w->csi_nodes});
}

/* --- common things --- */

static inline void scene_node(struct scene *s, const char *name) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'status':{'allocatable':{'cpu':'4','memory':'8Gi',"
                  "'pods':'110'}," READY "}}",
                  name);
    scene_add(s, &kind_node, json);
}

/* A pod of Deployment x/APP; `status` is that of the pod. */
static inline void scene_pod(struct scene *s, const char *name, const char *app, const char *node,
                             const char *status) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'x','name':'%s','uid':'u-%s','labels':{'app':'%s'},"
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'%s-1','uid':'u',"
        "'controller':true}]},'spec':{%s%s%s'containers':[{'name':'c','image':'example.com/a:1',"
        "'resources':{'requests':{'cpu':'1'}}}]},'status':{%s}}",
        name, name, app, app, *node ? "'nodeName':'" : "", node, *node ? "'," : "", status);
    scene_add(s, &kind_pod, json);
}

#define POD_WELL "'phase':'Running'," READY

static inline void scene_deployment(struct scene *s, const char *app, int replicas) {
    _cleanup_free_ char *set =
        xasprintf("{'metadata':{'namespace':'x','name':'%s-1','uid':'u'," OWNED(
                      "Deployment", "%s") "},"
                                          "'spec':{'replicas':%d}}",
                  app, app, app, replicas);
    _cleanup_free_ char *deployment =
        xasprintf("{'metadata':{'namespace':'x','name':'%s','uid':'u-%s'},'spec':{'replicas':%d}}",
                  app, app, replicas);
    scene_add(s, &kind_replica_set, set);
    scene_add(s, &kind_deployment, deployment);
}

/* A budget x/APP; `spec` is "'minAvailable':1". */
static inline void scene_budget(struct scene *s, const char *app, const char *spec, int expected,
                                int healthy, int desired) {
    int allowed = healthy > desired ? healthy - desired : 0;
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'x','name':'%s'},'spec':{%s,'selector':{'matchLabels':{'app':"
        "'%s'}}},'status':{'expectedPods':%d,'currentHealthy':%d,'desiredHealthy':%d,"
        "'disruptionsAllowed':%d}}",
        app, spec, app, expected, healthy, desired, allowed);
    scene_add(s, &kind_pdb, json);
}

/* --- the answer --- */

static inline const struct why *scene_why(struct scene *s, const char *node) {
    why_node(&s->world, node, &s->arena, &s->why);
    return &s->why;
}

static inline const struct why *scene_why_pod(struct scene *s, const char *name) {
    why_pod(&s->world, "x", name, &s->arena, &s->why);
    return &s->why;
}

/* The link of a code; WHY_NO_CODE: the first without one. */
static inline const struct why_link *link_of(const struct why *why, int code) {
    for (size_t i = 0; i < why->n_links; i++)
        if (why->links[i]->code == code)
            return why->links[i];
    fail_msg("no link of code %d in \"%s\"", code, why->summary);
    return NULL;
}

static inline const struct why_remedy *remedy_of(const struct why_link *l, const char *words) {
    for (size_t i = 0; i < l->n_remedies; i++)
        if (strstr(l->remedies[i].command, words) || strstr(l->remedies[i].text, words))
            return &l->remedies[i];
    return NULL;
}

static inline const struct why_link *cause_of(const struct why_link *l, const char *words) {
    for (size_t i = 0; i < l->n_causes; i++)
        if (strstr(l->causes[i]->text, words))
            return l->causes[i];
    return NULL;
}

static inline void assert_contains(const char *text, const char *words) {
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, text);
}

#endif
