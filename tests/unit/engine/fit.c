/* Tests of src/engine/fit.c: the picture of the cluster, step by step. The last one compares it
 * with a picture that was made at once. */
#include "fit_scene.h"

#include "../support/make.h"
#include "base/prng.h"
#include "engine/fit_internal.h"

#define CPU(n) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" n "'}}}]"

static void node(struct scene *s, const char *name, const char *cpu) {
    scene_put(s, &kind_node,
              "{'metadata':{'name':'%s'},'status':{'allocatable':{'pods':'9','cpu':'%s'}}}", name,
              cpu);
}

/* `node` and `rest` may be empty. */
static void put(struct scene *s, const char *name, const char *uid, const char *node_name,
                const char *rest) {
    scene_put(s, &kind_pod,
              "{'metadata':{'namespace':'d','name':'%s','uid':'%s'},'spec':{'nodeName':'%s'," CPU(
                  "1") "}%s}",
              name, uid, node_name, rest);
}

static int64_t used(struct scene *s, const char *name) {
    const struct fit_node *n = fit_node_find(s->fit, name);
    return n ? n->used.amounts.cpu : -1;
}

static void pods_take_room_where_they_are(void **state) {
    struct scene *s = *state;
    node(s, "a", "2");
    node(s, "b", "2");
    put(s, "p", "1", "", "");
    assert_null(fit_pod_node(s->fit, "d", "p"));
    put(s, "p", "1", "a", "");
    assert_string_equal(fit_pod_node(s->fit, "d", "p"), "a");
    assert_int_equal(used(s, "a"), 1000);
    put(s, "p", "1", "a", ",'status':{'phase':'Running'}");
    assert_int_equal(used(s, "a"), 1000); /* the same again */
    put(s, "p", "2", "b", "");            /* its successor of the same name */
    assert_int_equal(used(s, "a"), 0);
    assert_int_equal(used(s, "b"), 1000);
    put(s, "p", "2", "b", ",'status':{'phase':'Succeeded'}");
    assert_int_equal(used(s, "b"), 0);
    assert_null(fit_pod_node(s->fit, "d", "p"));
    put(s, "p", "3", "b", ",'status':{'phase':'Failed'}");
    assert_int_equal(used(s, "b"), 0);
    put(s, "p", "4", "b", "");
    put(s, "p", "5", "", ""); /* a new one, and not bound yet */
    assert_int_equal(used(s, "b"), 0);
    fit_remove_pod(s->fit, "d", "p");
    fit_remove_pod(s->fit, "d", "never seen");
    assert_int_equal(s->fit->pods.len, 0);
}

static void what_is_assumed_stays_until_more_is_known(void **state) {
    struct scene *s = *state;
    node(s, "a", "2");
    node(s, "b", "2");
    const struct pod *p = scene_pod(s, POD("", CPU("1")));
    fit_assume(s->fit, p, "a");
    assert_string_equal(fit_pod_node(s->fit, "d", "new"), "a");
    put(s, "new", "new", "", ",'status':{'phase':'Pending'}"); /* news, but not of a node */
    assert_string_equal(fit_pod_node(s->fit, "d", "new"), "a");
    put(s, "new", "new", "", ",'status':{'nominatedNodeName':'b'}");
    assert_string_equal(fit_pod_node(s->fit, "d", "new"), "a");
    put(s, "new", "new", "b", ""); /* it was bound, elsewhere */
    assert_string_equal(fit_pod_node(s->fit, "d", "new"), "b");
    assert_int_equal(used(s, "a"), 0);
    put(s, "new", "new", "", ""); /* bound ones are not forgotten by the API; believe it */
    assert_null(fit_pod_node(s->fit, "d", "new"));
    /* assumed again and again, and another pod of the name */
    fit_assume(s->fit, p, "a");
    fit_assume(s->fit, p, "b");
    assert_int_equal(used(s, "a"), 0);
    assert_int_equal(used(s, "b"), 1000);
    put(s, "new", "other", "", "");
    assert_null(fit_pod_node(s->fit, "d", "new"));
    /* a node that does not exist; nothing at all */
    fit_assume(s->fit, p, "nowhere");
    assert_string_equal(fit_pod_node(s->fit, "d", "new"), "nowhere");
    put(s, "new", "new", "", ",'status':{'phase':'Failed'}");
    assert_null(fit_node_find(s->fit, "nowhere"));
    fit_assume(s->fit, p, "");
    assert_null(fit_pod_node(s->fit, "d", "new"));
}

static void nodes_may_come_after_their_pods(void **state) {
    struct scene *s = *state;
    put(s, "p", "1", "a", "");
    assert_int_equal(fit_node_count(s->fit), 0);
    assert_string_equal(fit_pod_node(s->fit, "d", "p"), "a");
    node(s, "a", "1");
    assert_why(s, "a", POD("", CPU("1")), "Insufficient cpu");
    fit_remove_node(s->fit, "a");
    assert_int_equal(fit_node_count(s->fit), 0);
    node(s, "a", "2");
    assert_fits(s, "a", POD("", CPU("1")));
    fit_remove_node(s->fit, "a");
    fit_remove_pod(s->fit, "d", "p");
    assert_null(fit_node_find(s->fit, "a")); /* nothing is left of it */
    fit_remove_node(s->fit, "a");
}

static void nodes_change(void **state) {
    struct scene *s = *state;
    node(s, "a", "1");
    put(s, "p", "1", "a", "");
    assert_why(s, "a", POD("", CPU("1")), "Insufficient cpu");
    node(s, "a", "2"); /* it grows */
    assert_fits(s, "a", POD("", CPU("1")));
    uint64_t layout = s->fit->layout;
    scene_put(s, &kind_node,
              "{'metadata':{'name':'a','resourceVersion':'7'},'spec':{'unschedulable':true},"
              "'status':{'allocatable':{'pods':'9','cpu':'2'},'conditions':[{'type':'Ready'}]}}");
    assert_why(s, "a", POD("", CPU("1")), "!node(s) were unschedulable");
    assert_int_equal(s->fit->layout, layout); /* heartbeats and cordons move nobody */
    scene_put(s, &kind_node, "{'metadata':{'name':'a','labels':{'x':'y'}}}");
    assert_true(s->fit->layout > layout);
    assert_why(s, "a", POD("", ""), "Too many pods"); /* it has no room at all now */
}

static void nodes_keep_their_order(void **state) {
    struct scene *s = *state;
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        node(s, names[i], "1");
    node(s, "b", "2");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(fit_node_name(s->fit, i), names[i]);
    fit_remove_node(s->fit, "b"); /* the last one takes its place */
    assert_int_equal(fit_node_count(s->fit), 3);
    assert_string_equal(fit_node_name(s->fit, 1), "d");
    fit_remove_node(s->fit, "d");
    assert_string_equal(fit_node_name(s->fit, 1), "c");
}

static void objects_without_a_name_are_nothing(void **state) {
    struct scene *s = *state;
    scene_put(s, &kind_node, "{}");
    scene_put(s, &kind_pod, "{'spec':{'nodeName':'a'}}");
    scene_put(s, &kind_namespace, "{}");
    scene_put(s, &kind_pv, "{}");
    scene_put(s, &kind_pvc, "{}");
    fit_assume(s->fit, scene_pod(s, "{}"), "a");
    assert_int_equal(fit_node_count(s->fit), 0);
    assert_int_equal(s->fit->pods.len + s->fit->claims.len + s->fit->volumes.len, 0);
    fit_free(NULL);
}

/* --- any steps --- */

enum { NODES = 7, PODS = 60, CLAIMS = 8, SPACES = 3, STEPS = 1500 };

/* What there is, as JSON; NULL: nothing. */
struct cluster {
    char *nodes[NODES], *pods[PODS], *claims[CLAIMS], *volumes[CLAIMS], *spaces[SPACES];
};

struct table {
    const struct kind *kind;
    char **list;
    size_t n;
};

static void tables(struct cluster *c, struct table out[5]) {
    out[0] = (struct table){&kind_node, c->nodes, NODES};
    out[1] = (struct table){&kind_pod, c->pods, PODS};
    out[2] = (struct table){&kind_pvc, c->claims, CLAIMS};
    out[3] = (struct table){&kind_pv, c->volumes, CLAIMS};
    out[4] = (struct table){&kind_namespace, c->spaces, SPACES};
}

#define PICK(r, ...)                                                                               \
    ({                                                                                             \
        static const char *const list_[] = {__VA_ARGS__};                                          \
        list_[prng_range(r, 0, ARRAY_LEN(list_))];                                                 \
    })

static char *random_node(struct prng *r, size_t i) {
    return xasprintf("{'metadata':{'name':'n%zu','labels':{'host':'n%zu'%s%s}},'spec':{%s%s},"
                     "'status':{'allocatable':{'cpu':'%s','memory':'4Gi','pods':'%s'}}}",
                     i, i, PICK(r, "", ",'zone':'1'", ",'zone':'2'", ",'zone':''"),
                     PICK(r, "", ",'rack':'1'", ",'rack':'2'"),
                     PICK(r, "", "", "'unschedulable':true,"),
                     PICK(r, "'taints':[]", "'taints':[{'key':'t','effect':'NoSchedule'}]",
                          "'taints':[{'key':'s','effect':'PreferNoSchedule'}]"),
                     PICK(r, "4", "8", "16"), PICK(r, "5", "20", "30"));
}

#define TERM(more) "{'labelSelector':{'matchLabels':{'app':'%s'}},'topologyKey':'%s'" more "}"
#define SELECTED   ",'namespaceSelector':{'matchExpressions':[{'key':'t','operator':'Exists'}]}"

static char *random_spec(struct prng *r, const char *node_name) {
    struct str s = STR_INIT;
    str_addf(&s, "'nodeName':'%s','priority':%s", node_name, PICK(r, "0", "0", "5"));
    const char *app = PICK(r, "a", "b"), *key = PICK(r, "host", "zone", "rack");
    switch (prng_range(r, 0, 10)) {
    case 0:
        str_addf(&s,
                 ",'affinity':{'podAntiAffinity':{"
                 "'requiredDuringSchedulingIgnoredDuringExecution':[" TERM("") "]}}",
                 app, key);
        break;
    case 1:
        str_addf(
            &s,
            ",'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" TERM(
                "") "," TERM(SELECTED) "]}}",
            app, key, app, PICK(r, "host", "zone"));
        break;
    case 2:
        str_addf(&s,
                 ",'affinity':{'podAntiAffinity':{"
                 "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,"
                 "'podAffinityTerm':" TERM(SELECTED) "}]}}",
                 app, key);
        break;
    case 3:
    case 4:
        str_addf(&s,
                 ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'%s',"
                 "'whenUnsatisfiable':'%s','labelSelector':{'matchLabels':{'app':'%s'}},"
                 "'nodeTaintsPolicy':'%s'}]",
                 key, PICK(r, "DoNotSchedule", "ScheduleAnyway"), app, PICK(r, "Honor", "Ignore"));
        break;
    case 5:
        str_addf(&s, ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c%d'}}]",
                 (int)prng_range(r, 0, CLAIMS));
        break;
    case 6:
        str_add(&s, ",'nodeSelector':{'rack':'1'},'tolerations':[{'operator':'Exists'}]");
        break;
    default:
        break;
    }
    str_addf(&s,
             ",'containers':[{'name':'c','ports':[%s],'resources':{'requests':{'cpu':'%s'%s}}}]",
             PICK(r, "", "", "", "{'hostPort':80}"), PICK(r, "100m", "1", "2"),
             PICK(r, "", "", ",'example.com/x':'1'"));
    return str_take(&s);
}

static char *random_pod(struct prng *r, size_t i, bool bound) {
    char at[8] = "";
    if (bound && prng_range(r, 0, 8))
        snprintf(at, sizeof at, "n%d", (int)prng_range(r, 0, NODES + 1));
    _cleanup_free_ char *spec = random_spec(r, at);
    return xasprintf("{'metadata':{'namespace':'s%zu','name':'p%zu','uid':'%d','labels':{'app':'%s'"
                     "}%s%s},'spec':{%s},'status':{'phase':'%s'%s}}",
                     i % SPACES, i, (int)prng_range(r, 0, 3), PICK(r, "a", "b", "c"),
                     PICK(r, "", "", ",'deletionTimestamp':'2026-11-15T08:00:00Z'"),
                     PICK(r, "",
                          ",'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','uid':"
                          "'o','controller':true}]"),
                     spec, bound ? PICK(r, "Running", "Running", "Succeeded") : "Pending",
                     bound && !*at ? ",'nominatedNodeName':'n1'" : "");
}

static char *random_object(struct prng *r, const struct kind *kind, size_t i) {
    if (kind == &kind_node)
        return random_node(r, i);
    if (kind == &kind_pod)
        return random_pod(r, i, true);
    if (kind == &kind_namespace)
        return xasprintf("{'metadata':{'name':'s%zu','labels':{%s}}}", i, PICK(r, "", "'t':'1'"));
    if (kind == &kind_pv)
        return xasprintf("{'metadata':{'name':'v%zu'},'spec':{'storageClassName':'w','capacity':{"
                         "'storage':'%s'},%s'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
                         "'matchExpressions':[{'key':'rack','operator':'%s'}]}]}}},'status':{"
                         "'phase':'Available'}}",
                         i, PICK(r, "1Gi", "5Gi"),
                         PICK(r, "", "'claimRef':{'namespace':'s0','name':'c0'},"),
                         PICK(r, "Exists", "DoesNotExist"));
    return xasprintf("{'metadata':{'namespace':'s%zu','name':'c%zu','annotations':{%s}},'spec':{"
                     "'storageClassName':'w',%s'accessModes':['%s'],'resources':{'requests':{"
                     "'storage':'2Gi'}}}}",
                     i % SPACES, i, PICK(r, "", "'pv.kubernetes.io/bind-completed':'yes'"),
                     PICK(r, "", "'volumeName':'v1',"),
                     PICK(r, "ReadWriteOncePod", "ReadWriteOnce"));
}

static void take_away(struct scene *s, const struct kind *kind, size_t i) {
    char name[24], ns[24];
    snprintf(name, sizeof name, "%c%zu",
             kind == &kind_node        ? 'n'
             : kind == &kind_pod       ? 'p'
             : kind == &kind_namespace ? 's'
             : kind == &kind_pv        ? 'v'
                                       : 'c',
             i);
    snprintf(ns, sizeof ns, "s%zu", i % SPACES);
    if (kind == &kind_node)
        fit_remove_node(s->fit, name);
    else if (kind == &kind_pod)
        fit_remove_pod(s->fit, ns, name);
    else if (kind == &kind_namespace)
        fit_remove_namespace(s->fit, name);
    else if (kind == &kind_pv)
        fit_remove_volume(s->fit, name);
    else
        fit_remove_claim(s->fit, ns, name);
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Everything that can be asked about a pod, whatever the order of the nodes. */
static char *answers(struct scene *s, const char *pod) {
    struct str out = STR_INIT;
    char *lines[NODES];
    size_t n_nodes = fit_node_count(s->fit), n;
    for (size_t i = 0; i < n_nodes; i++) {
        const char *name = fit_node_name(s->fit, i);
        lines[i] = xasprintf("%s: %s", name, scene_why(s, name, pod));
        const struct fit_binding *b = fit_bindings(s->fit, (const struct pod *)s->asked, name, &n);
        for (size_t k = 0; k < n; k++) {
            char *old = lines[i];
            lines[i] = xasprintf("%s %s=%s", old, b[k].claim, strna(b[k].volume));
            free(old);
        }
        const struct fit_score *scores = fit_scores(s->fit, (const struct pod *)s->asked, &n);
        for (size_t k = 0; k < n; k++) {
            if (streq(scores[k].node, name)) {
                char *old = lines[i];
                lines[i] = xasprintf("%s %lld", old, (long long)scores[k].score);
                free(old);
            }
        }
    }
    qsort(lines, n_nodes, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n_nodes; i++) {
        str_addf(&out, "%s\n", lines[i]);
        free(lines[i]);
    }
    str_add(&out, scene_explain(s, pod));
    return str_take(&out);
}

static void put_class(struct scene *s) {
    struct fit_class class = {.name = make_str(s->pool, "w"), .waits = true};
    fit_put_class(s->fit, &class);
    pool_unref(s->pool, class.name);
}

/* A picture of the same cluster, made at once and in another order. */
static void compare_with_new(struct scene *s, struct cluster *c, struct prng *r) {
    struct scene other = *s;
    struct table t[5];
    tables(c, t);
    other.fit = fit_new(s->pool);
    other.asked = NULL;
    other.text = STR_INIT;
    put_class(&other);
    for (int k = 4; k >= 0; k--)
        for (size_t i = t[k].n; i-- > 0;)
            if (t[k].list[i])
                scene_put(&other, t[k].kind, "%s", t[k].list[i]);
    for (int i = 0; i < 12; i++) {
        _cleanup_free_ char *pod = random_pod(r, 900 + (size_t)i, false);
        _cleanup_free_ char *a = answers(s, pod), *b = answers(&other, pod);
        if (!streq(a, b))
            fail_msg("%s:\n%s\nand made at once:\n%s", pod, a, b);
    }
    fit_free(other.fit);
    if (other.asked)
        object_free(&kind_pod, s->pool, other.asked);
    str_done(&other.text);
}

static void any_steps_lead_to_the_same_picture(void **state) {
    struct scene *s = *state;
    struct prng r = {42};
    struct cluster c = {0};
    struct table t[5];
    tables(&c, t);
    put_class(s);
    for (int step = 0; step < STEPS; step++) {
        /* pods change most */
        int64_t draw = prng_range(&r, 0, 20);
        const struct table *chosen = &t[draw < 12   ? 1
                                        : draw < 15 ? 0
                                        : draw < 17 ? 2
                                        : draw < 19 ? 3
                                                    : 4];
        size_t i = (size_t)prng_range(&r, 0, (int64_t)chosen->n);
        free(chosen->list[i]);
        if (prng_range(&r, 0, 4)) {
            chosen->list[i] = random_object(&r, chosen->kind, i);
            scene_put(s, chosen->kind, "%s", chosen->list[i]);
        } else {
            chosen->list[i] = NULL;
            take_away(s, chosen->kind, i);
        }
        if (step % 60 == 59)
            compare_with_new(s, &c, &r);
    }
    for (size_t k = 0; k < ARRAY_LEN(t); k++)
        for (size_t i = 0; i < t[k].n; i++)
            free(t[k].list[i]);
}

/* The same steps give the same answers, to the byte: what hashes are seeded with does not show. */
static char *one_run(size_t *placed) {
    struct scene *s;
    struct str out = STR_INIT;
    struct prng r = {5};
    scene_setup((void **)&s);
    for (size_t i = 0; i < NODES; i++) {
        _cleanup_free_ char *json = random_node(&r, i);
        scene_put(s, &kind_node, "%s", json);
    }
    for (size_t i = 0; i < 60; i++) {
        _cleanup_free_ char *json = random_pod(&r, i, false);
        const char *at = fit_place(s->fit, scene_pod(s, json), prng_next(&r));
        str_addf(&out, "%s ", strna(at));
        *placed += at != NULL;
        if (at)
            fit_assume(s->fit, (const struct pod *)s->asked, at);
        if (i % 7 == 6) {
            char name[24];
            snprintf(name, sizeof name, "p%zu", i - 3);
            fit_remove_pod(s->fit, "s0", name);
        }
    }
    assert_int_equal(scene_teardown((void **)&s), 0);
    return str_take(&out);
}

static void runs_repeat_to_the_byte(void **state) {
    (void)state;
    size_t placed = 0;
    _cleanup_free_ char *first = one_run(&placed), *second = one_run(&placed);
    assert_string_equal(first, second);
    assert_true(placed > 2 * 15);
}

#define MEMBER(labels)                                                                             \
    "{'metadata':{'namespace':'d','name':'m','uid':'m','labels':{" labels "}},'spec':{"            \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"           \
    "'labelSelector':{'matchLabels':{'app':'m'}},'topologyKey':'zone'}]}}}}"

/* Without a name it counts like any other: for room, for others' rules, until it is taken away. */
static void pods_without_a_name(void **state) {
    struct scene *s = *state;
    struct fit_pod *added[40];
    scene_put(s, &kind_node,
              "{'metadata':{'name':'n1','labels':{'zone':'a'}},'status':{'allocatable':{'pods':"
              "'50','cpu':'10'}}}");
    scene_node(s, "n2", "'zone':'b'");
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        added[i] = fit_add(s->fit,
                           scene_pod(s, POD("", "'containers':[{'name':'c','resources':{"
                                                "'requests':{'cpu':'250m'}}}]")),
                           "n1");
    assert_why(s, "n1",
               POD("", "'containers':[{'name':'c','resources':{'requests':{'cpu':'1m'}}}]"),
               "Insufficient cpu");
    /* in any order, and those that are left go with the picture */
    static const size_t order[] = {0, 39, 20, 1, 38, 7};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        fit_take(s->fit, added[order[i]]);
    assert_fits(s, "n1",
                POD("", "'containers':[{'name':'c','resources':{'requests':{'cpu':'1500m'}}}]"));
    assert_why(s, "n1",
               POD("", "'containers':[{'name':'c','resources':{'requests':{'cpu':'1501m'}}}]"),
               "Insufficient cpu");
    assert_null(fit_pod_node(s->fit, "d", "new"));
    /* a named one of the same kind does not take its place */
    scene_pods(s, 1, "n1", "");
    struct fit_pod *m = fit_add(s->fit, scene_pod(s, MEMBER("'app':'m'")), "n1");
    assert_why(s, "n1", MEMBER("'app':'m'"), "node(s) didn't match pod anti-affinity rules");
    assert_fits(s, "n2", MEMBER("'app':'m'"));
    assert_why(s, "n1", POD("'app':'m'", ""),
               "node(s) didn't satisfy existing pods anti-affinity rules");
    fit_take(s->fit, m);
    assert_fits(s, "n1", MEMBER("'app':'m'"));
    assert_fits(s, "n1", POD("'app':'m'", ""));
}

/* On a node that nobody knows yet, and that goes again. */
static void pods_without_a_name_nor_a_node(void **state) {
    struct scene *s = *state;
    struct fit_pod *p = fit_add(s->fit, scene_pod(s, POD("", "")), "late");
    fit_add(s->fit, scene_pod(s, POD("", "")), "late");
    assert_int_equal(fit_node_count(s->fit), 0);
    scene_put(s, &kind_node, "{'metadata':{'name':'late'},'status':{'allocatable':{'pods':'2'}}}");
    assert_why(s, "late", POD("", ""), "Too many pods");
    fit_take(s->fit, p);
    assert_fits(s, "late", POD("", ""));
    fit_remove_node(s->fit, "late");
    scene_put(s, &kind_node, "{'metadata':{'name':'late'},'status':{'allocatable':{'pods':'1'}}}");
    assert_why(s, "late", POD("", ""), "Too many pods");
}

/* Names of nodes are remembered by their address; one that comes again is another. */
static void nodes_that_come_and_go_are_found(void **state) {
    struct scene *s = *state;
    for (int i = 0; i < 3; i++) {
        char name[16];
        for (int k = 0; k < 20000; k += 1 + i * 999) {
            snprintf(name, sizeof name, "n%d", k);
            scene_node(s, name, "");
            assert_fits(s, name, POD("", ""));
            if (k % 3)
                fit_remove_node(s->fit, name);
            if (k % 3)
                assert_why(s, name, POD("", ""), "!no such node");
        }
        for (int k = 0; k < 20000; k++) {
            snprintf(name, sizeof name, "n%d", k);
            fit_remove_node(s->fit, name);
        }
        assert_int_equal(fit_node_count(s->fit), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(pods_take_room_where_they_are),
        SCENE_TEST(what_is_assumed_stays_until_more_is_known),
        SCENE_TEST(nodes_may_come_after_their_pods),
        SCENE_TEST(nodes_change),
        SCENE_TEST(nodes_keep_their_order),
        SCENE_TEST(objects_without_a_name_are_nothing),
        SCENE_TEST(pods_without_a_name),
        SCENE_TEST(pods_without_a_name_nor_a_node),
        SCENE_TEST(nodes_that_come_and_go_are_found),
        SCENE_TEST(any_steps_lead_to_the_same_picture),
        cmocka_unit_test(runs_repeat_to_the_byte),
    };
    return cmocka_run_group_tests_name("engine/fit", tests, NULL, NULL);
}
