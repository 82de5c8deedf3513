/* Tests of src/engine/stop.c: what stops everything, and that it does. */
#include "engine/stop.h"

#include "support/rollout_world.h"

#include "base/utf8.h"

static void stop(struct kw *w) {
    _cleanup_str_ struct str body = STR_INIT;
    stop_write(&(struct stop){"ops@laptop", "the storage is red", w->now.wall}, KW_NS, &body);
    kw_write(w, &kind_config_map, json_loads(str_get(&body), 0, NULL));
}

static void go_on(struct kw *w) {
    kw_delete(w, &kind_config_map, KW_NS, STOP_MAP);
}

static void upkeep(struct kw *w, const char *name, const char *node) {
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':1},'spec':{'node':'%s',"
           "'operation':'Reboot','policy':'default','executor':{'exec':{'command':['true']}}}}",
           name, name, node);
}

static const char *status(struct kw *w, const char *name, const char *path) {
    return dw_str(kw_doc(w, &kind_maintenance, NULL, name), path);
}

static char *text_of(const char *data) {
    struct pool *pool = pool_new(type_drop);
    json_t *doc =
        json_pack("{s:{s:s},s:{s:s}}", "metadata", "name", STOP_MAP, "data", STOP_KEY, data);
    struct object *obj = kw_decode(pool, &kind_config_map, doc);
    char *text = stop_text((const struct config_map *)obj);
    object_free(&kind_config_map, pool, obj);
    json_decref(doc);
    pool_free(pool);
    return text;
}

static void the_text_says_who_and_why(void **state) {
    (void)state;
    _cleanup_free_ char *all =
        text_of("{\"v\":1,\"by\":\"ops\",\"reason\":\"red\",\"since\":\"2026-11-16T08:00:00Z\"}");
    assert_string_equal(all, "everything is paused by ops since 2026-11-16T08:00:00Z: red");
    _cleanup_free_ char *bare = text_of("{\"v\":1,\"by\":\"ops\"}");
    assert_string_equal(bare, "everything is paused by ops");
    assert_null(stop_text(NULL));
}

/* Whatever somebody has written there: it is a stop, and the words do no harm. */
static void what_cannot_be_read_stops_as_well(void **state) {
    (void)state;
    static const char *const bad[] = {"", "[]", "{", "null", "{\"by\":7}", "{\"v\":1}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_free_ char *text = text_of(bad[i]);
        assert_true(strstr(text, "cannot be read"));
    }
    _cleanup_free_ char *evil = text_of("{\"by\":\"a\\u001b[31mb\",\"reason\":\"x\\ny\"}");
    assert_null(strchr(evil, '\033'));
    assert_null(strchr(evil, '\n'));
    _cleanup_str_ struct str longer = STR_INIT;
    str_add(&longer, "{\"by\":\"x");
    for (int i = 0; i < 400; i++)
        str_add(&longer, "\xc3\xa4");
    str_add(&longer, "\"}");
    _cleanup_free_ char *cut = text_of(str_get(&longer));
    assert_true(strlen(cut) < 330);
    assert_true(utf8_valid(cut, strlen(cut)));
}

/* --- slots --- */

static void nobody_gets_a_slot(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    stop(w);
    kw_settle(w);
    assert_int_equal(kw_answer(w, 0, "w1", KEEPER_MAY_GO)->say, KEEPER_BLOCKED);
    assert_true(strstr(kw_answer(w, 1, "w1", KEEPER_MAY_GO)->text, "the storage is red"));
    assert_slots(w, "; w1");
    assert_false(kw_is_cordoned(w, "w1"));
    go_on(w);
    kw_pass(w, SEC(5));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* It is drained, and asks: the watch has not told of the stop yet, the server does. */
static void a_late_watch_grants_nothing(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    for (unsigned i = 0; i < 500 && !streq(kw_slots(w), "w1 drained"); i++) {
        kw_round(&w->r[0]);
        kw_set_time(w, w->now.mono + MSEC(1));
    }
    assert_slots(w, "w1 drained");
    w->r[0].late[KW_MAPS] = w->r[1].late[KW_MAPS] = true;
    stop(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_slots(w, "w1 drained");
    w->r[0].late[KW_MAPS] = w->r[1].late[KW_MAPS] = false;
    go_on(w);
    kw_pass(w, SEC(5));
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* Who was told to go may have gone; nobody is told again. What comes back is put back. */
static void what_was_granted_goes_on(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    stop(w);
    kw_settle(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_slots(w, "w1 granted");
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(1));
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_renew(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* --- maintenances --- */

/* At any step: no pod is evicted any more, nothing is begun; and it goes on afterwards. */
static void a_maintenance_stops_wherever_it_is(void **state) {
    (void)state;
    bool drained = false, undrained = false;
    for (unsigned after = 0; after < 40; after++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 1);
        w->lazy_pods = true;
        kw_node(w, "w1");
        for (unsigned i = 0; i < 3; i++)
            kw_pod(w, "w1");
        rw_start(w);
        upkeep(w, "m", "w1");
        for (unsigned i = 0; i < after; i++) {
            kw_round(&w->r[0]);
            kw_set_time(w, w->now.mono + MSEC(10));
        }
        stop(w);
        kw_settle(w);
        size_t evictions = dw_count(&w->wanted, "evict pods"),
               operations = dw_count(&w->operated, "m\n");
        w->lazy_pods = false;
        kw_pass(w, SEC(120));
        assert_int_equal(dw_count(&w->wanted, "evict pods"), evictions);
        assert_int_equal(dw_count(&w->operated, "m\n"), operations);
        undrained |= evictions < 3;
        drained |= evictions == 3 && !operations;
        if (!operations && *status(w, "m", "status.phase"))
            assert_string_equal(status(w, "m", "status.blocker.code"), "ManualHold");
        go_on(w);
        for (unsigned i = 1; i <= 3; i++) {
            char name[8];
            snprintf(name, sizeof name, "p%u", i);
            if (evictions && kw_doc(w, &kind_pod, "default", name))
                kw_delete(w, &kind_pod, "default", name);
        }
        for (unsigned i = 0; i < 50 && !streq(status(w, "m", "status.phase"), "Complete"); i++) {
            kw_pass(w, SEC(10));
            rw_machines(w);
        }
        assert_string_equal(status(w, "m", "status.phase"), "Complete");
        assert_int_equal(dw_count(&w->operated, "m\n"), 1);
        kw_done(w);
        free(w);
    }
    assert_true(drained && undrained);
}

static void a_rollout_begins_nothing(void **state) {
    struct kw *w = *state;
    kw_node(w, "w1");
    rw_start(w);
    stop(w);
    kw_settle(w);
    rw_rollout(w, "kernel", ",'nodes':['w1']");
    kw_pass(w, SEC(60));
    assert_int_equal(dw_count(&w->wanted, "create maintenances"), 0);
    go_on(w);
    kw_pass(w, SEC(5));
    assert_int_equal(dw_count(&w->wanted, "create maintenances"), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kw_setup, kw_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_says_who_and_why),
        cmocka_unit_test(what_cannot_be_read_stops_as_well),
        TEST(nobody_gets_a_slot),
        TEST(a_late_watch_grants_nothing),
        TEST(what_was_granted_goes_on),
        cmocka_unit_test(a_maintenance_stops_wherever_it_is),
        TEST(a_rollout_begins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
