/* Tests of src/engine/cluster.c: single objects that are asked for, and shorthands. */
#include "engine/cluster.h"

#include "support/drain_world.h"

/* Whoever reads takes the next one and gives it a number. */
static struct lookup *take(struct drain_world *w, uint64_t action) {
    struct lookup *l = cluster_next_wanted(&w->c);
    if (l)
        cluster_reading(&w->c, l, action);
    return l;
}

static struct object *decode(struct drain_world *w, const struct kind *kind, const char *text) {
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    struct object *obj = dw_decode(w, kind, doc);
    json_decref(doc);
    return obj;
}

#define SET_1 "{\"metadata\":{\"name\":\"db\",\"namespace\":\"a\",\"resourceVersion\":\"1\"}}"
#define SET_2 "{\"metadata\":{\"name\":\"db\",\"namespace\":\"a\",\"resourceVersion\":\"2\"}}"

static void an_object_is_asked_for_once(void **state) {
    struct drain_world *w = *state;
    const struct lookup *l = cluster_look(&w->c, &kind_stateful_set, "a", "db");
    assert_int_equal(l->known, KNOWN_NOT_YET);
    assert_null(l->obj);
    assert_ptr_equal(cluster_look(&w->c, &kind_stateful_set, "a", "db"), l);
    struct lookup *next = take(w, 7);
    assert_ptr_equal(next, l);
    assert_string_equal(next->ns, "a");
    assert_string_equal(next->name, "db");
    assert_ptr_equal(next->kind, &kind_stateful_set);
    assert_null(cluster_next_wanted(&w->c));
    cluster_look(&w->c, &kind_stateful_set, "a", "db");
    cluster_refresh(&w->c, &kind_stateful_set, "a", "db");
    assert_null(cluster_next_wanted(&w->c)); /* it is under way */
    struct object *obj = decode(w, &kind_stateful_set, SET_1);
    assert_true(cluster_read_done(&w->c, 7, KUBE_OK, "", obj));
    object_free(&kind_stateful_set, w->pool, obj); /* it was copied */
    assert_int_equal(l->known, KNOWN_THERE);
    assert_string_equal(l->obj->meta.version, "1");
    cluster_look(&w->c, &kind_stateful_set, "a", "db");
    assert_null(cluster_next_wanted(&w->c));
}

static void names_namespaces_and_kinds_are_told_apart(void **state) {
    struct drain_world *w = *state;
    const struct lookup *all[] = {
        cluster_look(&w->c, &kind_stateful_set, "a", "db"),
        cluster_look(&w->c, &kind_stateful_set, "b", "db"),
        cluster_look(&w->c, &kind_stateful_set, "a", "kv"),
        cluster_look(&w->c, &kind_daemon_set, "a", "db"),
        cluster_look(&w->c, &kind_stateful_set, "ad", "b"), /* the same letters */
        cluster_look(&w->c, &kind_pv, NULL, "db"),
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(all[i], all[k]);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_ptr_equal(take(w, i + 1), all[i]); /* in the order asked for */
    assert_null(cluster_next_wanted(&w->c));
}

static void how_each_outcome_is_understood(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        enum known known;
    } rows[] = {
        {KUBE_NOT_FOUND, KNOWN_GONE},       {KUBE_FORBIDDEN, KNOWN_NEVER},
        {KUBE_INVALID, KNOWN_NEVER},        {KUBE_UNSUPPORTED, KNOWN_NEVER},
        {KUBE_NO_CREDENTIALS, KNOWN_NEVER}, {KUBE_NOT_KUBERNETES, KNOWN_NEVER},
        {KUBE_THROTTLED, KNOWN_NOT_YET},    {KUBE_SERVER_ERROR, KNOWN_NOT_YET},
        {KUBE_UNREACHABLE, KNOWN_NOT_YET},  {KUBE_UNKNOWN, KNOWN_NOT_YET},
        {KUBE_TIMED_OUT, KNOWN_NOT_YET},    {KUBE_TOO_NEW, KNOWN_NOT_YET},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_world w;
        dw_init(&w);
        const struct lookup *l = cluster_look(&w.c, &kind_daemon_set, "a", "agent");
        take(&w, 5);
        assert_true(cluster_read_done(&w.c, 5, rows[i].outcome, "a sentence", NULL));
        assert_int_equal(l->known, rows[i].known);
        assert_string_equal(l->why, "a sentence");
        assert_int_equal(l->action, 0);
        assert_null(cluster_next_wanted(&w.c)); /* until somebody looks again */
        cluster_look(&w.c, &kind_daemon_set, "a", "agent");
        assert_int_equal(cluster_next_wanted(&w.c) != NULL, rows[i].known == KNOWN_NOT_YET);
        dw_done(&w);
    }
}

static void answers_to_nothing_are_not_ours(void **state) {
    struct drain_world *w = *state;
    cluster_look(&w->c, &kind_daemon_set, "a", "agent"); /* wanted, its action is 0 */
    assert_false(cluster_read_done(&w->c, 0, KUBE_NOT_FOUND, "", NULL));
    assert_false(cluster_read_done(&w->c, 9, KUBE_NOT_FOUND, "", NULL));
    take(w, 9);
    assert_true(cluster_read_done(&w->c, 9, KUBE_NOT_FOUND, "", NULL));
    assert_false(cluster_read_done(&w->c, 9, KUBE_NOT_FOUND, "", NULL));
}

static void asked_again_the_old_answer_stands_until_the_new_one(void **state) {
    struct drain_world *w = *state;
    const struct lookup *l = cluster_look(&w->c, &kind_stateful_set, "a", "db");
    take(w, 1);
    struct object *one = decode(w, &kind_stateful_set, SET_1);
    struct object *two = decode(w, &kind_stateful_set, SET_2);
    cluster_read_done(&w->c, 1, KUBE_OK, "", one);
    cluster_refresh(&w->c, &kind_stateful_set, "a", "db");
    cluster_refresh(&w->c, &kind_stateful_set, "a", "db");
    assert_ptr_equal(take(w, 2), l);
    assert_null(cluster_next_wanted(&w->c));
    assert_int_equal(l->known, KNOWN_THERE);
    assert_string_equal(l->obj->meta.version, "1");
    /* One that fails changes nothing, one that succeeds does. */
    cluster_read_done(&w->c, 2, KUBE_SERVER_ERROR, "", NULL);
    assert_int_equal(l->known, KNOWN_THERE);
    assert_string_equal(l->obj->meta.version, "1");
    cluster_refresh(&w->c, &kind_stateful_set, "a", "db");
    take(w, 3);
    cluster_read_done(&w->c, 3, KUBE_OK, "", two);
    assert_string_equal(l->obj->meta.version, "2");
    cluster_refresh(&w->c, &kind_stateful_set, "a", "db");
    take(w, 4);
    cluster_read_done(&w->c, 4, KUBE_NOT_FOUND, "not found", NULL);
    assert_int_equal(l->known, KNOWN_GONE);
    assert_null(l->obj);
    object_free(&kind_stateful_set, w->pool, one);
    object_free(&kind_stateful_set, w->pool, two);
}

static void refreshing_what_nobody_asked_for_asks_for_it(void **state) {
    struct drain_world *w = *state;
    cluster_refresh(&w->c, &kind_replica_set, "a", "web");
    struct lookup *l = cluster_next_wanted(&w->c);
    assert_non_null(l);
    assert_string_equal(l->name, "web");
}

static void owners_that_are_watched_are_not_asked_for(void **state) {
    struct drain_world *w = *state;
    w->c.owners_watched = true;
    const struct lookup *l = cluster_look(&w->c, &kind_replica_set, "default", "web");
    assert_int_equal(l->known, KNOWN_GONE);
    dw_put(w, &kind_replica_set, "{'metadata':{'namespace':'default','name':'web'}}");
    assert_ptr_equal(cluster_look(&w->c, &kind_replica_set, "default", "web"), l);
    assert_int_equal(l->known, KNOWN_THERE);
    _cleanup_free_ char *version = xstrdup(l->obj->meta.version);
    dw_edit(w, &kind_replica_set, "default", "web", "{'spec':{'replicas':3}}");
    cluster_look(&w->c, &kind_replica_set, "default", "web");
    assert_string_not_equal(l->obj->meta.version, version);
    assert_int_equal(((const struct replica_set *)l->obj)->replicas, 3);
    cluster_refresh(&w->c, &kind_replica_set, "default", "web");
    dw_remove(w, &kind_replica_set, "default", "web");
    cluster_look(&w->c, &kind_replica_set, "default", "web");
    assert_int_equal(l->known, KNOWN_GONE);
    assert_null(l->obj);
    assert_null(cluster_next_wanted(&w->c));
    /* Others are. */
    assert_int_equal(cluster_look(&w->c, &kind_daemon_set, "default", "agent")->known,
                     KNOWN_NOT_YET);
    assert_non_null(cluster_next_wanted(&w->c));
}

static void the_pods_of_a_node(void **state) {
    struct drain_world *w = *state;
    size_t n = 99;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_pod(w, "c", "w0", "{}");
    dw_pod(w, "pending", "w0", "{'spec':{'nodeName':null}}");
    cluster_pods_on(&w->c, "w0", &n);
    assert_int_equal(n, 2);
    const struct pod *const *list = cluster_pods_on(&w->c, "w1", &n);
    assert_int_equal(n, 1);
    assert_string_equal(list[0]->meta.name, "b");
    cluster_pods_on(&w->c, "nowhere", &n);
    assert_int_equal(n, 0);
    cluster_pods_on(&w->c, "", &n); /* not those that are nowhere */
    assert_int_equal(n, 0);
    assert_string_equal(cluster_node(&w->c, "w0")->meta.name, "w0");
    assert_null(cluster_node(&w->c, "w1"));
}

/* --- the pods of a budget --- */

static const struct pdb *budget(struct drain_world *w, const char *selector) {
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'b','uid':'u-b'},'spec':{'selector':%s}}",
           selector);
    return (const struct pdb *)store_get(w->c.budgets, "default", "b");
}

static void the_pods_of_a_budget_are_filled_in_by_somebody(void **state) {
    struct drain_world *w = *state;
    size_t n = 99;
    const struct pdb *pdb = budget(w, "{'matchLabels':{'app':'web','tier':'x'},'matchExpressions':"
                                      "[{'key':'env','operator':'In','values':['a','b']}]}");
    assert_null(cluster_next_peers(&w->c));
    assert_null(cluster_peers(&w->c, pdb, 0, &n));
    assert_int_equal(n, 0);
    struct peers *p = cluster_next_peers(&w->c);
    assert_non_null(p);
    assert_string_equal(p->ns, "default");
    assert_string_equal(p->selector, "app=web,tier=x,env in (a,b)");
    p->started = true;
    assert_null(cluster_next_peers(&w->c));
    assert_null(cluster_peers(&w->c, pdb, 0, &n)); /* not complete yet */
    assert_null(cluster_next_peers(&w->c));        /* and not asked for twice */
    json_t *doc = json_pack("{s:{s:s,s:s,s:s}}", "metadata", "namespace", "default", "name", "x",
                            "resourceVersion", "5");
    store_replace_begin(p->pods);
    store_put(p->pods, dw_decode(w, &kind_pod, doc));
    store_replace_end(p->pods, "6");
    json_decref(doc);
    const struct pod **list = cluster_peers(&w->c, pdb, 0, &n);
    assert_int_equal(n, 1);
    assert_string_equal(list[0]->meta.name, "x");
    free(list);
}

/* Each costs a stream: only so many at a time, and those that are not needed make room. */
static void a_place_among_the_peers_is_given_back(void **state) {
    struct drain_world *w = *state;
    char name[8];
    size_t n;
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "b%d", i);
        dw_budget(w, name, 0, 2, 1, 2);
        cluster_peers(&w->c, (const struct pdb *)store_get(w->c.budgets, "default", name), 0, &n);
        struct peers *p = cluster_next_peers(&w->c);
        assert_int_equal(p != NULL, i < 8);
        if (p)
            p->started = true;
    }
    assert_null(cluster_idle_peers(&w->c, SEC(60)));
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "b%d", i);
        if (i != 3)
            cluster_peers(&w->c, (const struct pdb *)store_get(w->c.budgets, "default", name),
                          SEC(61), &n);
    }
    dw_remove(w, &kind_pdb, "default", "b5");
    for (int i = 0; i < 2; i++) {
        struct peers *p = cluster_idle_peers(&w->c, SEC(62));
        assert_non_null(p);
        assert_true(streq(p->name, "b3") || streq(p->name, "b5"));
        cluster_drop_peers(&w->c, p);
    }
    assert_null(cluster_idle_peers(&w->c, SEC(62)));
    cluster_peers(&w->c, (const struct pdb *)store_get(w->c.budgets, "default", "b8"), SEC(62), &n);
    struct peers *p = cluster_next_peers(&w->c);
    assert_non_null(p);
    assert_string_equal(p->name, "b8");
}

static void when_all_pods_are_there_nobody_is_asked(void **state) {
    struct drain_world *w = *state;
    size_t n = 99;
    w->c.all_pods = true;
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_pod(w, "other", "w1", "{'metadata':{'labels':{'app':'db'}}}");
    dw_budget(w, "web", 1, 2, 1, 2);
    const struct pod **list =
        cluster_peers(&w->c, (const struct pdb *)store_get(w->c.budgets, "default", "web"), 0, &n);
    assert_int_equal(n, 2);
    free(list);
    assert_null(cluster_next_peers(&w->c));
}

/* What cannot be written as a selector is not asked for: it would select something else. */
static void a_selector_that_makes_no_sense_selects_nobody(void **state) {
    struct drain_world *w = *state;
    size_t n = 99;
    const struct pdb *pdb =
        budget(w, "{'matchExpressions':[{'key':'env','operator':'Near','values':['a']}]}");
    assert_null(cluster_peers(&w->c, pdb, 0, &n));
    assert_int_equal(n, 0);
    assert_null(cluster_next_peers(&w->c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(an_object_is_asked_for_once),
        DRAIN_TEST(names_namespaces_and_kinds_are_told_apart),
        cmocka_unit_test(how_each_outcome_is_understood),
        DRAIN_TEST(answers_to_nothing_are_not_ours),
        DRAIN_TEST(asked_again_the_old_answer_stands_until_the_new_one),
        DRAIN_TEST(refreshing_what_nobody_asked_for_asks_for_it),
        DRAIN_TEST(owners_that_are_watched_are_not_asked_for),
        DRAIN_TEST(the_pods_of_a_node),
        DRAIN_TEST(the_pods_of_a_budget_are_filled_in_by_somebody),
        DRAIN_TEST(a_place_among_the_peers_is_given_back),
        DRAIN_TEST(when_all_pods_are_there_nobody_is_asked),
        DRAIN_TEST(a_selector_that_makes_no_sense_selects_nobody),
    };
    return cmocka_run_group_tests_name("engine/cluster", tests, NULL, NULL);
}
