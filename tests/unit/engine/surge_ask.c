/* Tests of src/engine/surge_ask.c: which pods are asked to wait, and what is said meanwhile. */
#include "surge_site.h"

static void count_and_record_are_one_write(void **state) {
    (void)state;
    struct site t;
    setup(&t, true);
    struct dep *d = &t.deps[0];
    assert_int_equal(ask(&t, d), SURGE_WAIT);
    assert_string_equal(d->text, "Deployment x/a has one replica and is being raised to 2");
    assert_false(surge_over(t.surge));
    flush(&t);
    assert_string_equal(
        t.last,
        "{\"metadata\":{\"resourceVersion\":\"102\",\"labels\":{\"slipway.dev/surge\":"
        "\"true\"},\"annotations\":{\"slipway.dev/surge\":\"{\\\"v\\\":1,\\\"replicas\\\":1,"
        "\\\"node\\\":\\\"w1\\\",\\\"pod\\\":\\\"a-pod\\\",\\\"by\\\":\\\"cli/alice\\\"}\"}},"
        "\"spec\":{\"replicas\":2}}");
    assert_int_equal(t.writes, 1);
    /* asked again and again, nothing more is written */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ask(&t, d), SURGE_WAIT);
        flush(&t);
    }
    assert_int_equal(t.requests, 1);
    assert_string_equal(
        d->text, "Deployment x/a was raised to 2 replicas; its controller has not seen that yet");
    /* the number of available pods means nothing before the controller has seen the count */
    d->available = 2;
    touch(&t, d);
    assert_int_equal(ask(&t, d), SURGE_WAIT);
    d->available = 1;
    d->observed = d->generation;
    d->failure = "exceeded quota";
    touch(&t, d);
    assert_int_equal(ask(&t, d), SURGE_WAIT);
    assert_string_equal(d->text,
                        "Deployment x/a was raised to 2 replicas and has 1 of 2 available: "
                        "exceeded quota");
    d->failure = NULL;
    d->available = 2;
    touch(&t, d);
    assert_int_equal(ask(&t, d), SURGE_GO);
    /* the second one failed after all */
    d->available = 1;
    touch(&t, d);
    assert_int_equal(ask(&t, d), SURGE_WAIT);
    teardown(&t);
}

static void assert_none(struct site *t, struct dep *d) {
    int i = 0;
    while (ask(t, d) == SURGE_WAIT && i++ < 5)
        flush(t);
    assert_int_equal(d->said, SURGE_NONE);
    flush(t);
    assert_int_equal(t->requests, 0);
    assert_true(surge_over(t->surge));
}

static void only_deployments_with_one_replica(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        for (int what = 0; what < 6; what++) {
            struct site t;
            setup(&t, watched);
            struct dep *d = &t.deps[0];
            if (what == 0)
                d->replicas = 2;
            else if (what == 1)
                d->replicas = 0;
            else if (what == 2)
                d->paused = true;
            else if (what == 3)
                d->strategy = "Recreate"; /* it does not want two at once */
            else if (what == 4)
                d->gone = true;
            else {
                free((char *)d->uid);
                d->uid = xstrdup("another"); /* made anew under the same name */
            }
            touch(&t, d);
            assert_none(&t, d);
            teardown(&t);
        }
    }
}

static void other_owners_are_none_of_its_business(void **state) {
    (void)state;
    static const char *const owners[] = {
        "",
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'StatefulSet','name':'a-rs','uid':'a-rs'"
        ",'controller':true}]",
        "'ownerReferences':[{'apiVersion':'apps.kruise.io/v1','kind':'ReplicaSet','name':'a-rs',"
        "'uid':'a-rs','controller':true}]",
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'a-rs','uid':'a-rs'"
        "}]",
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'gone-rs','uid':"
        "'gone-rs','controller':true}]",
        "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'a-rs','uid':"
        "'older','controller':true}]",
    };
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        struct site t;
        setup(&t, false);
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'x','name':'a-1','uid':'a-pod','resourceVersion':'999'%s%s},"
            "'spec':{'nodeName':'w1'},'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
            *owners[i] ? "," : "", owners[i]);
        store_put(t.cluster.pods, decode(&t, &kind_pod, json));
        assert_none(&t, &t.deps[0]);
        teardown(&t);
    }
}

/* Nobody misses a pod that does not work, and two of them would never be available. */
static void a_pod_that_is_not_ready_is_not_waited_for(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        struct dep *d = &t.deps[0];
        d->pods[0].ready = false;
        d->available = 0;
        put_pod(&t, d);
        t.now.wall += SEC(11);
        assert_none(&t, d);
        teardown(&t);

        /* just now it was: it may come back */
        setup(&t, watched);
        d = &t.deps[0];
        t.now.wall += SEC(1);
        d->pods[0].ready = false;
        put_pod(&t, d);
        t.slow = true;
        for (int i = 0; i < 3; i++) {
            ask(&t, d);
            flush(&t);
        }
        assert_int_equal(d->said, SURGE_WAIT);
        assert_int_equal(t.writes, 1);
        /* raised, and one is there instead: that is enough */
        d->available = 1;
        d->observed = d->generation;
        touch(&t, d);
        t.now.mono += SEC(1);
        t.now.wall += SEC(1);
        surge_step(t.surge, t.now, &t.out);
        flush(&t);
        assert_int_equal(ask(&t, d), SURGE_WAIT);
        assert_true(surge_next(t.surge) <= t.now.mono + SEC(9));
        t.now.mono += SEC(9);
        t.now.wall += SEC(9);
        assert_int_equal(ask(&t, d), SURGE_GO);
        teardown(&t);
    }
}

static void two_pods_of_one_deployment_go_one_after_the_other(void **state) {
    (void)state;
    struct site t;
    setup(&t, true);
    struct dep *d = &t.deps[0];
    raise_and_wait(&t);
    /* the new pod is on a node that is drained next */
    store_put(
        t.cluster.pods,
        decode(&t, &kind_pod,
               "{'metadata':{'namespace':'x','name':'second','uid':'second','ownerReferences':[{"
               "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'a-rs','uid':'a-rs','controller':"
               "true}]},'spec':{'nodeName':'w2'},'status':{'conditions':[{'type':'Ready','status':"
               "'True'}]}}"));
    const struct pod *second = (const struct pod *)store_get(t.cluster.pods, "x", "second");
    const char *text;
    assert_int_equal(surge_ask(t.surge, second, "w2", t.now, &t.out, &text), SURGE_WAIT);
    assert_string_equal(text,
                        "Deployment x/a is at work for its pod on node w1; this one comes next");
    d->stuck = false;
    /* asked between an answer and the next step as well, it is never told that nothing is to do */
    enum surge_state said = SURGE_WAIT;
    for (int i = 0; i < 200 && said == SURGE_WAIT; i++) {
        turn(&t);
        said = surge_ask(t.surge, second, "w2", t.now, &t.out, &text);
    }
    assert_int_equal(said, SURGE_GO);
    assert_true(d->evicted);
    assert_int_equal(d->generation, 4); /* up, back, up */
    assert_int_equal(d->replicas, 2);
    assert_int_equal(d->least, 1);
    surge_left(t.surge, "second", t.now, &t.out);
    run(&t, 200);
    assert_int_equal(d->replicas, 1);
    teardown(&t);
}

static void what_others_have_raised_is_left_to_them(void **state) {
    (void)state;
    static const struct {
        const char *record, *text;
    } rows[] = {
        {"{\"v\":1,\"replicas\":1,\"node\":\"w9\",\"pod\":\"other\",\"by\":\"cli/bob\"}",
         "cli/bob has raised Deployment x/a for its pod on node w9; if nobody drains that node any "
         "more, set its count to 1 and remove its label slipway.dev/surge"},
        {"{\"v\":2,\"replicas\":1,\"node\":\"w1\",\"pod\":\"a-pod\"}",
         "Deployment x/a has an annotation slipway.dev/surge that cannot be used: it is of version "
         "2, this program knows version 1; set its count and remove the annotation and the label "
         "of that name, or drain without --surge"},
        {"nonsense",
         "Deployment x/a has an annotation slipway.dev/surge that cannot be used: it is no JSON; "
         "set its count and remove the annotation and the label of that name, or drain without "
         "--surge"},
    };
    for (int watched = 0; watched < 2; watched++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct site t;
            setup(&t, watched);
            struct dep *d = &t.deps[0];
            mark(d, rows[i].record);
            write_spec(&t, d, 2);
            restart(&t); /* resumes nothing of it */
            assert_true(surge_over(t.surge));
            for (int k = 0; k < 100; k++)
                turn(&t);
            assert_int_equal(d->said, SURGE_WAIT);
            assert_string_equal(d->text, rows[i].text);
            assert_int_equal(t.requests, 0);
            assert_true(surge_over(t.surge));
            /* until they are done */
            json_object_clear(d->labels);
            json_object_clear(d->annotations);
            write_spec(&t, d, 1);
            run(&t, 400);
            assert_as_before(&t, "others", 0);
            teardown(&t);
        }
    }
}

/* Nobody looks for what was begun: it is found when its pod is asked about. */
static void found_again_by_its_pod(void **state) {
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        struct site t;
        setup(&t, watched);
        raise_and_wait(&t);
        surge_free(t.surge);
        t.surge = surge_new(&t.cluster, "cli/bob", &t.ids);
        t.deps[0].stuck = false;
        unsigned writes = t.writes;
        run(&t, 200);
        assert_as_before(&t, "found", 0);
        assert_in_range(t.writes, writes + 1, writes + 2); /* it is not raised twice */
        teardown(&t);
    }
}

static void owners_that_cannot_be_read_are_not_guessed(void **state) {
    (void)state;
    struct site t;
    setup(&t, false);
    struct dep *d = &t.deps[0];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(&t, d), SURGE_WAIT);
        struct lookup *l = cluster_next_wanted(&t.cluster);
        if (i == 1)
            assert_null(l); /* not at once again */
        if (l) {
            cluster_reading(&t.cluster, l, ++t.ids);
            cluster_read_done(&t.cluster, l->action, KUBE_FORBIDDEN, "no", NULL);
        }
        t.now.mono += i ? SEC(31) : SEC(1);
    }
    assert_int_equal(ask(&t, d), SURGE_WAIT);
    assert_string_equal(d->text,
                        "whether the pod is the only one of a Deployment cannot be known, "
                        "ReplicaSet x/a-rs cannot be read: no; permit get of replicasets, or drain "
                        "without --surge");
    assert_true(surge_next(t.surge) <= t.now.mono + SEC(30));
    /* permitted */
    run(&t, 1000);
    assert_as_before(&t, "permitted", 0);
    teardown(&t);
}

static void says_what_is_refused(void **state) {
    (void)state;
    struct site t;
    struct surge_item item;
    size_t i = 0;
    setup(&t, false);
    struct dep *d = &t.deps[0];
    assert_false(surge_list(t.surge, &i, &item));
    t.fault = FAULT_READ_ONLY;
    t.fault_at = 1;
    t.fault_for = 1000;
    int64_t end = t.now.mono + SEC(600);
    while (t.now.mono < end)
        turn(&t);
    assert_int_equal(d->said, SURGE_WAIT);
    assert_string_equal(d->text, "Deployment x/a cannot be raised to 2 replicas: because; permit "
                                 "get and patch of deployments, or drain without --surge");
    assert_in_range(t.requests, 10, 40);
    assert_int_equal(d->replicas, 1);
    assert_true(surge_list(t.surge, &i, &item));
    assert_string_equal(item.name, "a");
    assert_string_equal(item.node, "w1");
    assert_string_equal(item.why, "because");
    assert_true(item.refused && !item.raised && !item.going_back);
    assert_false(surge_list(t.surge, &i, &item));
    /* permitted at last; and then not when it shall go back */
    t.fault_at = 0;
    while (!d->evicted)
        turn(&t);
    t.fault_at = t.requests + 1;
    end = t.now.mono + SEC(300);
    while (t.now.mono < end)
        turn(&t);
    i = 0;
    assert_false(surge_over(t.surge));
    assert_true(surge_list(t.surge, &i, &item));
    assert_true(item.refused && item.raised && item.going_back);
    assert_int_equal(d->replicas, 2);
    t.fault_at = 0;
    run(&t, 2000);
    assert_as_before(&t, "refused", 0);
    teardown(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_and_record_are_one_write),
        cmocka_unit_test(only_deployments_with_one_replica),
        cmocka_unit_test(other_owners_are_none_of_its_business),
        cmocka_unit_test(a_pod_that_is_not_ready_is_not_waited_for),
        cmocka_unit_test(two_pods_of_one_deployment_go_one_after_the_other),
        cmocka_unit_test(what_others_have_raised_is_left_to_them),
        cmocka_unit_test(found_again_by_its_pod),
        cmocka_unit_test(owners_that_cannot_be_read_are_not_guessed),
        cmocka_unit_test(says_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
