/* Tests of src/engine/drain_confirm.c: what the watches have not told. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* A watch may be late; a list that began after the cordon is not. */
static void not_done_before_a_list_has_confirmed_it(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_confirm = true;
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nconfirm pods w0\n");
    dw_pass(w, SEC(60));
    assert_phase(w, 0, DRAIN_EVICTING);
    assert_wanted(w, ""); /* once */
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

static void what_the_list_finds_is_evicted(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_confirm = true;
    dw_start(w, "w0", NULL);
    dw_pod(w, "a", "w1", "{}"); /* on the server it is on w0, and nobody has heard of it */
    dw_patch(w, &kind_pod, "default", "a", json_pack("{s:{s:s}}", "spec", "nodeName", "w0"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_EVICTING);
    dw_forget(w);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/a"), 1);
    assert_phase(w, 0, DRAIN_EVICTING);
}

static void a_list_that_fails_is_repeated_politely_and_said(void **state) {
    struct drain_world *w = *state;
    static const enum kube_outcome outcomes[] = {KUBE_SERVER_ERROR, KUBE_FORBIDDEN, KUBE_EXPIRED,
                                                 KUBE_UNREACHABLE, KUBE_UNKNOWN};
    dw_node(w, "w0");
    w->by_hand_confirm = true;
    dw_start(w, "w0", NULL);
    for (unsigned i = 0; i < 10; i++) {
        dw_reply(w, ACTION_CONFIRM, "w0", outcomes[i % ARRAY_LEN(outcomes)], -1);
        dw_settle(w);
        assert_int_equal(dw_under_way(w, ACTION_CONFIRM), 0); /* not at once */
        assert_true(dw_view(w, 0)->blocked);
        assert_int_equal(dw_view(w, 0)->blocker.code, BLOCKER_SERVER_TROUBLE);
        dw_pass(w, SEC(16));
        assert_int_equal(dw_under_way(w, ACTION_CONFIRM), 1);
    }
    dw_reply(w, ACTION_CONFIRM, "w0", KUBE_THROTTLED, 30);
    dw_pass(w, SEC(30) - 1);
    assert_int_equal(dw_under_way(w, ACTION_CONFIRM), 0);
    dw_pass(w, 1);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_false(dw_view(w, 0)->blocked);
}

/* It is asked for while the pods leave, and holds none of them up. */
static void the_list_holds_no_pod_up(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->by_hand_confirm = true;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "evict default/a"), 1);
    assert_int_equal(dw_asked(w, "confirm"), 1);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "confirm"), 1);
}

#define CLAIM "{'spec':{'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}}]}}"

/* The pod had a claim: that nothing is attached is believed of a list alone. */
static void volumes_are_confirmed_when_a_pod_had_claims(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", CLAIM);
    w->by_hand_confirm = true;
    dw_start(w, "w0", NULL);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_int_equal(dw_asked(w, "confirm volumeattachments w0"), 1);
    /* One that nobody has heard of. */
    json_t *doc =
        json_pack("{s:{s:s},s:{s:s,s:{s:s}},s:{s:b}}", "metadata", "name", "va", "spec", "nodeName",
                  "w0", "source", "persistentVolumeName", "pv-1", "status", "attached", 1);
    dw_write(w, &kind_volume_attachment, doc);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DETACHING);
    assert_string_equal(dw_view(w, 0)->blocker.object, "va");
    dw_remove(w, &kind_volume_attachment, NULL, "va");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "confirm volumeattachments w0"), 1);
}

static void nobody_asks_for_volumes_of_pods_that_had_none(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->by_hand_confirm = true;
    w->obedient = true;
    dw_start(w, "w0", NULL);
    dw_confirm(w, dw_open(w, ACTION_CONFIRM, "w0"));
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "confirm"), 1);
}

static void a_dry_run_confirms_nothing(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    w->by_hand_confirm = true;
    w->opts.dry_run = DRY_RUN_SERVER;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "confirm"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(not_done_before_a_list_has_confirmed_it),
        DRAIN_TEST(what_the_list_finds_is_evicted),
        DRAIN_TEST(a_list_that_fails_is_repeated_politely_and_said),
        DRAIN_TEST(the_list_holds_no_pod_up),
        DRAIN_TEST(volumes_are_confirmed_when_a_pod_had_claims),
        DRAIN_TEST(nobody_asks_for_volumes_of_pods_that_had_none),
        DRAIN_TEST(a_dry_run_confirms_nothing),
    };
    return cmocka_run_group_tests_name("engine/drain_confirm", tests, NULL, NULL);
}
