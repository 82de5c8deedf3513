/* Tests of src/engine/attached.c. */
#include "engine/attached.h"

#include "support/world.h"

#include "base/timefmt.h"

#define NOW INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

struct site {
    struct world w;
    struct store *volumes, *attachments;
};

static const void *add(struct site *s, struct store *store, const char *json) {
    return world_put(&s->w, store, json);
}

static void begin(struct site *s) {
    world_init(&s->w);
    s->volumes = store_new(&kind_pv, s->w.pool);
    s->attachments = store_new(&kind_volume_attachment, s->w.pool);
}

static void end(struct site *s) {
    store_free(s->volumes);
    store_free(s->attachments);
    world_done(&s->w);
}

static const struct pv *volume_of(void *arg, const char *name) {
    return (const struct pv *)store_get(arg, NULL, name);
}

#define VA(name, pv, status)                                                                       \
    "{'metadata':{'name':'" name "'},'spec':{'nodeName':'n','source':{'persistentVolumeName':'" pv \
    "'}},'status':{" status "}}"
#define PV(name, claim)                                                                            \
    "{'metadata':{'name':'" name "'},'spec':{'claimRef':{'namespace':'x','name':'" claim "'}}}"

static void only_what_no_pod_uses_is_left(void **state) {
    (void)state;
    static const struct {
        const char *va;
        bool left;
    } cases[] = {
        {VA("a", "free", "'attached':true"), true},  {VA("b", "free", "'attached':false"), false},
        {VA("c", "used", "'attached':true"), false}, {VA("d", "own", "'attached':true"), false},
        {VA("e", "gone", "'attached':true"), true},  {VA("f", "", "'attached':true"), false},
    };
    struct site s;
    begin(&s);
    add(&s, s.volumes, PV("free", "c1"));
    add(&s, s.volumes, PV("used", "c2"));
    add(&s, s.volumes, PV("own", "p-tmp"));
    const struct pod *pod = world_add(&s.w, &kind_pod,
                                      "{'metadata':{'namespace':'x','name':'p'},'spec':{'volumes':["
                                      "{'name':'d','persistentVolumeClaim':{'claimName':'c2'}},"
                                      "{'name':'tmp','ephemeral':{'volumeClaimTemplate':{}}}]}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct attached left = {0};
        attached_add(&left, add(&s, s.attachments, cases[i].va), &pod, 1, volume_of, s.volumes);
        assert_int_equal(left.n, cases[i].left);
    }
    end(&s);
}

static void the_first_speaks_for_all(void **state) {
    (void)state;
    struct site s;
    struct attached left = {0};
    _cleanup_str_ struct str words = STR_INIT;
    begin(&s);
    attached_add(&left, add(&s, s.attachments, VA("a", "pv2", "'attached':true")), NULL, 0,
                 volume_of, s.volumes);
    attached_explain(&left, &words);
    assert_string_equal(str_get(&words), "1 volume is still attached, though no pod here uses it");
    attached_add(&left,
                 add(&s, s.attachments,
                     VA("b", "pv1", "'attached':true,'detachError':{'message':'device is busy'}")),
                 NULL, 0, volume_of, s.volumes);
    str_reset(&words);
    attached_explain(&left, &words);
    assert_string_equal(
        str_get(&words),
        "2 volumes are still attached, though no pod here uses them: device is busy");
    end(&s);
}

/* A volume whose pod has just left is on its way. */
static void what_is_on_its_way_is_not_stuck(void **state) {
    (void)state;
    struct site s;
    begin(&s);
    const struct node *open = world_add(&s.w, &kind_node, "{'metadata':{'name':'n'}}");
    const struct volume_attachment *fresh =
        add(&s, s.attachments, VA("a", "pv", "'attached':true"));
    const struct volume_attachment *failed =
        add(&s, s.attachments, VA("b", "pv", "'attached':true,'detachError':{'message':'x'}"));
    const struct volume_attachment *late =
        add(&s, s.attachments,
            "{'metadata':{'name':'c','deletionTimestamp':'2026-11-15T07:50:00Z'},'spec':{}}");
    assert_false(attached_is_stuck(fresh, open, NOW));
    assert_true(attached_is_stuck(failed, open, NOW));
    assert_true(attached_is_stuck(late, open, NOW));
    assert_false(attached_is_stuck(late, open, NOW - SEC(600)));
    const struct node *closed =
        world_add(&s.w, &kind_node, "{'metadata':{'name':'m'},'spec':{'unschedulable':true}}");
    assert_true(attached_is_stuck(fresh, closed, NOW));
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_no_pod_uses_is_left),
        cmocka_unit_test(the_first_speaks_for_all),
        cmocka_unit_test(what_is_on_its_way_is_not_stuck),
    };
    return cmocka_run_group_tests_name("engine/attached", tests, NULL, NULL);
}
