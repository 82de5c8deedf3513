/* Tests of src/engine/surge.c. */
#include "surge_site.h"

/* --- the way it goes --- */

static void one_more_then_evict_then_back(bool watched) {
    struct site t;
    setup(&t, watched);
    struct dep *d = &t.deps[0];
    run(&t, 200);
    assert_as_before(&t, "plain", 0);
    assert_int_equal(d->generation, 3); /* two writes */
    assert_true(t.writes <= 3);         /* one conflict with the controller's status at most */
    if (watched)
        assert_int_equal(t.reads, t.writes - 2);
    else
        assert_true(t.reads <= 5);
    teardown(&t);
}

static void goes_watched(void **state) {
    (void)state;
    one_more_then_evict_then_back(true);
}

static void goes_by_asking(void **state) {
    (void)state;
    one_more_then_evict_then_back(false);
}

/* The pod leaves, and the controllers do not see it. */
static void evict_unseen(struct site *t) {
    while (ask(t, &t->deps[0]) != SURGE_GO) {
        flush(t);
        controllers(t);
    }
    t->slow = true;
    evict(t, &t->deps[0]);
}

/* Lowered while the controller still counts the old pod, it would remove the new one. */
static void lowered_when_the_controller_knows(void **state) {
    (void)state;
    struct site t;
    setup(&t, true);
    struct dep *d = &t.deps[0];
    evict_unseen(&t);
    assert_int_equal(d->available, 2);
    for (int i = 0; i < 10; i++)
        turn(&t);
    assert_int_equal(t.writes, 1);
    t.slow = false;
    turn(&t);
    turn(&t);
    assert_int_equal(d->replicas, 1);
    run(&t, 100);
    assert_as_before(&t, "late", 0);
    /* when the number never falls, it is lowered all the same */
    teardown(&t);
    setup(&t, true);
    d = &t.deps[0];
    evict_unseen(&t);
    int64_t from = t.now.mono;
    run(&t, 100);
    assert_int_equal(d->replicas, 1);
    assert_true(t.now.mono - from >= SEC(1) && t.now.mono - from <= SEC(3));
    teardown(&t);
}

static void asks_politely(void **state) {
    (void)state;
    struct site t;
    setup(&t, false);
    t.deps[0].stuck = true;
    int64_t end = t.now.mono + SEC(120);
    while (t.now.mono < end)
        turn(&t);
    assert_int_equal(t.writes, 1);
    /* 0.5 s, 1 s, 2 s, 4 s, then every 5 s */
    assert_in_range(t.reads, 24, 28);
    assert_string_equal(t.deps[0].text,
                        "Deployment x/a was raised to 2 replicas and has 1 of 2 available");
    t.deps[0].stuck = false;
    run(&t, 200);
    assert_as_before(&t, "slow", 0);
    teardown(&t);
}

static void deployments_do_not_wait_for_each_other(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        add(&t, "b");
        add(&t, "c");
        t.deps[0].stuck = true;
        for (int i = 0; i < 100; i++)
            turn(&t);
        assert_false(t.deps[0].evicted);
        assert_int_equal(t.deps[0].replicas, 2);
        for (int i = 1; i < 3; i++) {
            assert_true(t.deps[i].evicted);
            assert_int_equal(t.deps[i].replicas, 1);
            assert_false(marked(&t.deps[i]));
        }
        t.deps[0].stuck = false;
        run(&t, 200);
        assert_as_before(&t, "three", 0);
        teardown(&t);
    }
}

/* --- others --- */

static void a_count_that_somebody_set_stays(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (int when = 0; when < 2; when++) {
            struct site t;
            setup(&t, watched);
            struct dep *d = &t.deps[0];
            raise_and_wait(&t);
            if (when) { /* when it is on its way back already */
                evict(&t, d);
            }
            write_spec(&t, d, 5);
            d->stuck = false;
            run(&t, 400);
            assert_int_equal(d->replicas, 5);
            assert_false(marked(d));
            assert_true(d->evicted);
            teardown(&t);
        }
    }
}

/* An autoscaler that wants one replica is not fought. */
static void who_sets_it_back_is_not_fought(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        struct dep *d = &t.deps[0];
        raise_and_wait(&t);
        int64_t end = t.now.mono + SEC(600);
        unsigned raises = 1;
        for (int before = 2; t.now.mono < end; before = d->replicas) {
            if (d->replicas == 2 && before == 2)
                write_spec(&t, d, 1);
            turn(&t);
            raises += d->replicas == 2 && before == 1;
            assert_int_equal(ask(&t, d), SURGE_WAIT);
        }
        assert_in_range(raises, 5, 16); /* 5 s, 10 s, ... 60 s apart */
        assert_true(t.writes <= raises * 3 + 3);
        while (d->replicas == 2)
            turn(&t);
        turn(&t);
        /* when it is let, it goes on */
        d->stuck = false;
        run(&t, 2000);
        assert_int_equal(d->replicas, 1);
        assert_false(marked(d));
        teardown(&t);
    }
}

static void a_deployment_that_goes_is_let_go(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (int again = 0; again < 4; again++) {
            struct site t;
            setup(&t, watched);
            struct dep *d = &t.deps[0];
            raise_and_wait(&t);
            if (again == 2) {
                d->deleting = true;
                touch(&t, d);
            } else if (again) {
                /* a new one of that name: not to be touched */
                free((char *)d->uid);
                d->uid = xstrdup("new");
                if (again == 1) {
                    json_object_clear(d->labels);
                    json_object_clear(d->annotations);
                    d->replicas = 1;
                }
                touch(&t, d);
            } else {
                d->gone = true;
                publish(&t, d);
            }
            unsigned writes = t.writes;
            for (int i = 0; i < 200; i++)
                turn(&t);
            assert_true(surge_over(t.surge));
            if (again)
                assert_int_equal(d->said, SURGE_NONE);
            if (again == 3) {
                /* a copy with its marks, from a backup: the count in it is not what it should be */
                assert_int_equal(d->replicas, 1);
                assert_false(marked(d));
            } else {
                assert_int_equal(t.writes, writes);
            }
            teardown(&t);
        }
    }
}

/* The Deployment controller keeps annotations in ReplicaSets, and a rollback brings them back. */
static void an_annotation_without_the_label_is_nothing(void **state) {
    (void)state;
    struct site t;
    setup(&t, false);
    struct dep *d = &t.deps[0];
    json_object_set_new(
        d->annotations, SURGE_MARK,
        json_string("{\"v\":1,\"replicas\":3,\"node\":\"w1\",\"pod\":\"old\",\"by\":\"\"}"));
    touch(&t, d);
    run(&t, 200);
    assert_as_before(&t, "annotation", 0);
    teardown(&t);
}

static void a_record_that_somebody_removed_is_remembered(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        struct dep *d = &t.deps[0];
        raise_and_wait(&t);
        json_object_clear(d->annotations); /* kubectl rollout undo */
        write_spec(&t, d, 2);
        d->stuck = false;
        run(&t, 200);
        assert_as_before(&t, "undo", 0);
        teardown(&t);

        /* both marks: then the count is not ours any more */
        setup(&t, watched);
        d = &t.deps[0];
        raise_and_wait(&t);
        json_object_clear(d->annotations);
        json_object_clear(d->labels);
        write_spec(&t, d, 2);
        d->stuck = false;
        run(&t, 200);
        assert_int_equal(d->replicas, 2);
        assert_true(d->evicted);
        teardown(&t);
    }
}

/* --- stopping --- */

static void an_abort_takes_everything_back(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (unsigned turns = 0; turns < 12; turns++) {
            struct site t;
            setup(&t, watched);
            add(&t, "b");
            t.deps[0].stuck = t.deps[1].stuck = true;
            for (unsigned i = 0; i < turns; i++)
                turn(&t);
            /* a write may be under way */
            surge_step(t.surge, t.now, &t.out);
            ask(&t, &t.deps[0]);
            surge_abort(t.surge, t.now, &t.out);
            flush(&t);
            for (int i = 0; i < 200 && !surge_over(t.surge); i++)
                turn(&t);
            assert_true(surge_over(t.surge));
            for (int i = 0; i < 2; i++) {
                assert_int_equal(t.deps[i].replicas, 1);
                assert_false(marked(&t.deps[i]));
                assert_false(t.deps[i].evicted);
                assert_int_equal(ask(&t, &t.deps[i]), SURGE_WAIT);
            }
            assert_true(t.writes <= 6);
            teardown(&t);
        }
    }
}

/* --- faults --- */

static void any_fault_at_any_request(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (enum fault fault = FAULT_LOST; fault < FAULTS; fault++) {
            for (unsigned at = 1; at <= 8; at++) {
                for (unsigned length = 1; length <= 4; length += 3) {
                    struct site t;
                    setup(&t, watched);
                    add(&t, "b");
                    t.fault = fault;
                    t.fault_at = at;
                    t.fault_for = length;
                    run(&t, 2000);
                    assert_as_before(&t, "fault", at);
                    /* nobody hammers a server that does not answer */
                    if (t.requests > 40)
                        fail_msg("%u requests for fault %d at %u", t.requests, (int)fault, at);
                    teardown(&t);
                }
            }
        }
    }
}

/* Whatever a server does for ever, it is not asked more often than every few seconds. */
static void no_fault_makes_a_storm(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (enum fault fault = FAULT_LOST; fault < FAULTS; fault++) {
            for (unsigned at = 1; at <= 4; at++) {
                struct site t;
                setup(&t, watched);
                t.fault = fault;
                t.fault_at = at;
                t.fault_for = 100000;
                int64_t end = t.now.mono + SEC(120);
                while (t.now.mono < end)
                    turn(&t);
                if (t.requests > 100)
                    fail_msg("%u requests for fault %d at %u", t.requests, (int)fault, at);
                t.fault_at = 0;
                run(&t, 2000);
                assert_as_before(&t, "storm", at);
                teardown(&t);
            }
        }
    }
}

static void waits_as_long_as_the_server_asks(void **state) {
    (void)state;
    struct site t;
    setup(&t, true);
    t.fault = FAULT_THROTTLED; /* 3 s */
    t.fault_at = 1;
    int64_t from = t.now.mono;
    turn(&t);
    assert_int_equal(t.requests, 1);
    assert_int_equal(surge_next(t.surge), from + SEC(3));
    while (t.requests < 2)
        turn(&t);
    assert_true(t.now.mono >= from + SEC(3));
    run(&t, 200);
    assert_as_before(&t, "throttled", 0);
    teardown(&t);
}

/* Somebody was quicker, with marks that are not ours. */
static void marks_that_appear_meanwhile_are_not_overwritten(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        struct dep *d = &t.deps[0];
        while (ask(&t, d) == SURGE_WAIT && !t.out.list.len)
            look_ups(&t);
        mark(d, "{\"v\":2,\"what\":\"ever\"}");
        touch(&t, d);
        for (int i = 0; i < 100; i++)
            turn(&t);
        assert_int_equal(d->generation, 1);
        assert_int_equal(d->said, SURGE_WAIT);
        assert_true(surge_over(t.surge));
        teardown(&t);
    }
}

static void killed_anywhere(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (unsigned at = 0; at < 60; at++) {
            struct site t;
            setup(&t, watched);
            for (unsigned i = 0; i < at && !done(&t); i++)
                turn(&t);
            restart(&t);
            run(&t, 400);
            assert_as_before(&t, "killed", at);
            teardown(&t);
        }
    }
}

/* After any request, with its answer lost or not, and whether the request was carried out or not.
 */
static void killed_at_any_request(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (enum fault fault = FAULT_NONE; fault <= FAULT_NO_REPLY; fault++) {
            for (unsigned at = 1; at <= 8; at++) {
                struct site t;
                setup(&t, watched);
                t.fault = fault;
                t.fault_at = fault ? at : 0;
                for (unsigned i = 0; i < 400 && t.requests < at && !done(&t); i++)
                    turn(&t);
                restart(&t);
                /* and once more in the middle of the resumption */
                turn(&t);
                restart(&t);
                run(&t, 400);
                assert_as_before(&t, "killed at request", at);
                teardown(&t);
            }
        }
    }
}

/* The drain was given up for good, its node is not worked on: nothing else is touched. */
static void resumes_only_what_it_can_judge(void **state) {
    (void)state;
    struct site t;
    setup(&t, false);
    struct dep *d = &t.deps[0];
    /* a pod that has gone */
    mark(d, "{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"long-gone\",\"by\":\"x\"}");
    write_spec(&t, d, 2);
    restart(&t);
    assert_false(surge_over(t.surge));
    for (int i = 0; i < 100 && !surge_over(t.surge); i++) {
        surge_step(t.surge, t.now, &t.out);
        flush(&t);
        t.now.mono += MSEC(100);
    }
    assert_int_equal(d->replicas, 1);
    assert_false(marked(d));
    assert_false(d->evicted);
    /* the pod of another namespace is not its pod */
    store_put(t.cluster.pods, decode(&t, &kind_pod,
                                     "{'metadata':{'namespace':'y','name':'p','uid':'foreign'},"
                                     "'spec':{'nodeName':'w1'}}"));
    mark(d, "{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"foreign\",\"by\":\"x\"}");
    write_spec(&t, d, 2);
    restart(&t);
    for (int i = 0; i < 100 && !surge_over(t.surge); i++) {
        surge_step(t.surge, t.now, &t.out);
        flush(&t);
        t.now.mono += MSEC(100);
    }
    assert_int_equal(d->replicas, 1);
    /* the label alone does not say what to do */
    mark(d, NULL);
    write_spec(&t, d, 2);
    unsigned requests = t.requests;
    restart(&t);
    assert_true(surge_over(t.surge));
    assert_int_equal(t.requests, requests);
    teardown(&t);
}

/* From an answer there may be no list to put requests into. */
static void leaving_without_a_list(void **state) {
    (void)state;
    struct site t;
    setup(&t, true);
    struct dep *d = &t.deps[0];
    raise_and_wait(&t);
    d->evicted = d->pods[0].leaving = true;
    put_pod(&t, d);
    write_spec(&t, d, 3); /* there is something to do at once */
    surge_left(t.surge, "a-pod", t.now, NULL);
    surge_left(t.surge, "nobody", t.now, NULL);
    assert_true(surge_next(t.surge) <= t.now.mono);
    d->stuck = false;
    run(&t, 200);
    assert_int_equal(d->replicas, 3);
    assert_false(marked(d));
    teardown(&t);
    surge_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_watched),
        cmocka_unit_test(goes_by_asking),
        cmocka_unit_test(lowered_when_the_controller_knows),
        cmocka_unit_test(asks_politely),
        cmocka_unit_test(deployments_do_not_wait_for_each_other),
        cmocka_unit_test(a_count_that_somebody_set_stays),
        cmocka_unit_test(who_sets_it_back_is_not_fought),
        cmocka_unit_test(a_deployment_that_goes_is_let_go),
        cmocka_unit_test(an_annotation_without_the_label_is_nothing),
        cmocka_unit_test(a_record_that_somebody_removed_is_remembered),
        cmocka_unit_test(an_abort_takes_everything_back),
        cmocka_unit_test(any_fault_at_any_request),
        cmocka_unit_test(no_fault_makes_a_storm),
        cmocka_unit_test(waits_as_long_as_the_server_asks),
        cmocka_unit_test(marks_that_appear_meanwhile_are_not_overwritten),
        cmocka_unit_test(killed_anywhere),
        cmocka_unit_test(killed_at_any_request),
        cmocka_unit_test(resumes_only_what_it_can_judge),
        cmocka_unit_test(leaving_without_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
