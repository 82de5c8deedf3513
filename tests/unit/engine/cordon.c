/* Tests of src/engine/cordon.c. */
#include "engine/cordon.h"

#include "support/world.h"

#include "base/str.h"

struct fixture {
    struct world world;
    struct arena arena;
    struct cordon cordon;
    const char *text;
};

static void look(struct fixture *f, const char *json) {
    world_init(&f->world);
    f->arena = ARENA_INIT;
    cordon_of(world_add(&f->world, &kind_node, json), &f->arena, &f->cordon);
    f->text = cordon_text(&f->cordon, &f->arena);
}

static void done(struct fixture *f) {
    arena_done(&f->arena);
    world_done(&f->world);
}

static void a_free_node_has_no_owner(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'}}");
    assert_int_equal(f.cordon.owner, CORDON_NONE);
    assert_string_equal(f.text, "");
    done(&f);
}

static void a_cordon_without_a_mark_is_somebody_elses(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true}}");
    assert_int_equal(f.cordon.owner, CORDON_OTHER);
    assert_string_equal(f.text, "somebody else");
    done(&f);
}

static void autoscalers_are_known_by_their_taints(void **state) {
    (void)state;
    struct fixture f;
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true,'taints':["
             "{'key':'x'},{'key':'ToBeDeletedByClusterAutoscaler','effect':'NoSchedule'}]}}");
    assert_int_equal(f.cordon.owner, CORDON_AUTOSCALER);
    done(&f);
    look(&f, "{'metadata':{'name':'a'},'spec':{'unschedulable':true,'taints':["
             "{'key':'karpenter.sh/disrupted','effect':'NoSchedule'}]}}");
    assert_int_equal(f.cordon.owner, CORDON_KARPENTER);
    done(&f);
}

#define RECORD(text)                                                                               \
    "{'metadata':{'name':'a','annotations':{'slipway.dev/cordon':'" text                           \
    "'}},'spec':{'unschedulable':true}}"
#define Q "\\\""

static void the_record_names_every_holder(void **state) {
    (void)state;
    struct fixture f;
    look(&f, RECORD("{" Q "v" Q ":1," Q "before" Q ":true," Q "holders" Q ":[{" Q "id" Q ":" Q
                    "m1" Q "," Q "by" Q ":" Q "alice" Q "," Q "reason" Q ":" Q "kernel" Q "," Q
                    "since" Q ":" Q "2026-11-15T08:00:00Z" Q "},{" Q "id" Q ":" Q "m2" Q "}]}"));
    assert_int_equal(f.cordon.owner, CORDON_SLIPWAY);
    assert_true(f.cordon.before);
    assert_int_equal(f.cordon.n_holders, 2);
    assert_string_equal(f.cordon.holders[0].by, "alice");
    assert_int_equal(f.cordon.holders[0].since, INT64_C(1794729600) * 1000000);
    assert_string_equal(f.cordon.holders[1].reason, "");
    assert_string_equal(f.text, "alice: kernel, m2");
    done(&f);
}

static void a_record_that_is_not_understood_is_never_misread(void **state) {
    (void)state;
    static const struct {
        const char *json, *problem;
    } cases[] = {
        {RECORD("{" Q "v" Q ":2," Q "holders" Q ":[]}"),
         "it is of version 2, this program knows version 1"},
        {RECORD("not json"), "it is no JSON"},
        {RECORD("[]"), "it is no cordon record"},
        {RECORD("{" Q "v" Q ":" Q "1" Q "}"), "it is no cordon record"},
        {RECORD("{" Q "v" Q ":1}"), "its holders make no sense"},
        {RECORD("{" Q "v" Q ":1," Q "holders" Q ":[1]}"), "one of its holders is no object"},
        {RECORD("{" Q "v" Q ":1," Q "holders" Q ":[{" Q "since" Q ":" Q "soon" Q "}]}"),
         "the time of one of its holders is no time"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        look(&f, cases[i].json);
        assert_int_equal(f.cordon.owner, CORDON_UNREADABLE);
        assert_string_equal(f.cordon.problem, cases[i].problem);
        assert_int_equal(f.cordon.n_holders, 0);
        done(&f);
    }
}

static void a_record_without_holders_leaves_the_cordon_to_others(void **state) {
    (void)state;
    struct fixture f;
    look(&f, RECORD("{" Q "v" Q ":1," Q "before" Q ":true," Q "holders" Q ":[]}"));
    assert_int_equal(f.cordon.owner, CORDON_OTHER);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_node_has_no_owner),
        cmocka_unit_test(a_cordon_without_a_mark_is_somebody_elses),
        cmocka_unit_test(autoscalers_are_known_by_their_taints),
        cmocka_unit_test(the_record_names_every_holder),
        cmocka_unit_test(a_record_that_is_not_understood_is_never_misread),
        cmocka_unit_test(a_record_without_holders_leaves_the_cordon_to_others),
    };
    return cmocka_run_group_tests_name("engine/cordon", tests, NULL, NULL);
}
