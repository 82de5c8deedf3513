/* Tests of src/engine/waiting.c. */
#include "engine/waiting.h"

#include <stdio.h>

#include "lint_site.h"

static void put(struct site *s, const char *name, const char *meta, const char *spec,
                const char *status) {
    site_put(s, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s','uid':'%s'%s},'spec':{'containers':[{'name':"
             "'c'}]%s},'status':{'phase':'Pending'%s}}",
             name, name, meta, spec, status);
}

#define SAID(message)                                                                              \
    ",'conditions':[{'type':'PodScheduled','status':'False','reason':'Unschedulable','message':"   \
    "'" message "'}]"

static void who_waits_and_in_which_order(void **state) {
    (void)state;
    struct site s;
    struct moveout_stores stores = {0};
    waiting_pods found = VEC_INIT;
    site_init(&s);
    put(&s, "young", ",'creationTimestamp':'2026-11-15T07:30:00Z'", "", "");
    put(&s, "old", ",'creationTimestamp':'2026-11-15T07:00:00Z'", "",
        SAID("0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available."));
    put(&s, "first", ",'creationTimestamp':'2026-11-15T07:40:00Z'", ",'priority':5", "");
    /* these have no part in it */
    put(&s, "placed", "", ",'nodeName':'w1'", "");
    put(&s, "leaves", ",'deletionTimestamp':'2026-11-15T08:00:00Z'", "", "");
    put(&s, "gated", "", ",'schedulingGates':[{'name':'g'}]", "");
    put(&s, "other", "", ",'schedulerName':'volcano'", "");
    put(&s, "strange", "", "", SAID("0/3 nodes are available: 3 the moon is not full."));
    put(&s, "unread", "", ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
        "");
    put(&s, "done", "", "", ",'phase':'Failed'");
    waiting_find(s.w.pods, &stores, &found);
    assert_int_equal(found.len, 3);
    assert_string_equal(found.p[0]->meta.name, "first");
    assert_string_equal(found.p[1]->meta.name, "old");
    assert_string_equal(found.p[2]->meta.name, "young");
    vec_done(&found);
    site_done(&s);
}

static void no_more_than_can_be_asked(void **state) {
    (void)state;
    struct site s;
    struct moveout_stores stores = {0};
    waiting_pods found = VEC_INIT;
    site_init(&s);
    for (int i = 0; i < 210; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%03d", i);
        put(&s, name, "", "", "");
    }
    waiting_find(s.w.pods, &stores, &found);
    assert_int_equal(found.len, 200);
    vec_done(&found);
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_and_in_which_order),
        cmocka_unit_test(no_more_than_can_be_asked),
    };
    return cmocka_run_group_tests_name("engine/waiting", tests, NULL, NULL);
}
