/* Tests of src/engine/check_kubevirt.c. Objects have the shapes of kubevirt.io/v1. */
#include "support/checks.h"

static void machine(struct site *s, const char *name, const char *strategy, const char *status) {
    site_addf(s, SOURCE_VMIS,
              "{'metadata':{'name':'%s','namespace':'x'},'spec':{%s},'status':{'nodeName':'w1',"
              "'phase':'Running'%s}}",
              name, strategy, status);
}

#define MIGRATE "'evictionStrategy':'LiveMigrate'"
#define MOVABLE ",'conditions':[{'type':'LiveMigratable','status':'True'}]"
#define FIXED                                                                                      \
    ",'conditions':[{'type':'LiveMigratable','status':'False','reason':'DisksNotLiveMigratable',"  \
    "'message':'cannot migrate VMI: PVC disk is not shared'}]"

static void migratable_machines_gate_the_operation_only(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    machine(&s, "a", MIGRATE, MOVABLE);
    site_expect(&s, "w1", NULL, NULL,
                "wait O EvictionInProgress w1 a: virtual machine x/a runs here and leaves by live "
                "migration when the node is drained\n");
    assert_string_equal(s.result.list[0].ends,
                        "virtual machine x/a does not run on the node any more");
    site_expect(&s, "w2", NULL, NULL, "pass CO - w2: no virtual machine stands in the way\n");
    site_done(&s);
}

static void a_machine_that_must_and_cannot_migrate_is_denied(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    machine(&s, "a", MIGRATE, FIXED);
    machine(&s, "b", "'evictionStrategy':'LiveMigrateIfPossible'", FIXED);
    site_expect(&s, "w1", NULL, NULL,
                "deny CO NotMigratable w1 a: virtual machine x/a must leave by live migration "
                "(LiveMigrate) and cannot: cannot migrate VMI: PVC disk is not shared\n"
                "pass O NotMigratable w1 b: virtual machine x/b cannot be migrated and is stopped "
                "by the drain (LiveMigrateIfPossible): cannot migrate VMI: PVC disk is not "
                "shared\n");
    site_done(&s);
}

/* KubeVirt's own default is None; the KubeVirt object may set another. */
static void the_clusters_default_counts(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    machine(&s, "a", "", FIXED);
    site_expect(&s, "w1", NULL, NULL,
                "pass CO - w1: no virtual machine stands in the way\n"
                "pass O NotMigratable w1 a: virtual machine x/a is stopped by the drain "
                "(evictionStrategy None)\n");
    site_add(&s, SOURCE_KUBEVIRTS,
             "{'metadata':{'name':'kubevirt','namespace':'kubevirt'},'spec':{'configuration':{"
             "'evictionStrategy':'LiveMigrate'}},'status':{'phase':'Deployed'}}");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_DENY);
    /* Its own choice goes before the default. */
    machine(&s, "b", "'evictionStrategy':'None'", FIXED);
    site_run(&s, "w1", NULL, NULL);
    assert_non_null(strstr(site_text(&s), "x/b is stopped by the drain (evictionStrategy None)"));
    site_done(&s);
    site_init(&s, "kubevirt");
    machine(&s, "a", "", MOVABLE);
    machine(&s, "b", MIGRATE, MOVABLE);
    s.world.inputs[SOURCE_KUBEVIRTS] = (struct check_input){READ_FAILED, "forbidden", NULL};
    site_expect(&s, "w1", NULL, NULL,
                "wait CO CheckUnknown w1 a: virtual machine x/a has no evictionStrategy, and the "
                "cluster's default (kubevirts.kubevirt.io) cannot be read\n"
                "wait O EvictionInProgress w1 b: virtual machine x/b runs here and leaves by live "
                "migration when the node is drained\n");
    site_done(&s);
}

/* By its name, not by where it happens to be in the store: somebody plays this again. */
static void of_several_defaults_it_is_the_first(void **state) {
    (void)state;
    for (int ns = 'b'; ns < 'z'; ns++) {
        struct site s;
        site_init(&s, "kubevirt");
        machine(&s, "a", "", FIXED);
        site_addf(&s, SOURCE_KUBEVIRTS,
                  "{'metadata':{'name':'k','namespace':'%c'},'spec':{'configuration':{"
                  "'evictionStrategy':'None'}}}",
                  ns);
        site_add(&s, SOURCE_KUBEVIRTS,
                 "{'metadata':{'name':'k','namespace':'a'},'spec':{'configuration':{"
                 "'evictionStrategy':'LiveMigrate'}}}");
        site_run(&s, "w1", NULL, NULL);
        assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_DENY);
        site_done(&s);
    }
}

static void what_is_not_known_waits(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    machine(&s, "a", MIGRATE, "");
    machine(&s, "b", MIGRATE, ",'conditions':[{'type':'LiveMigratable','status':'Unknown'}]");
    machine(&s, "c", "'evictionStrategy':'Teleport'", MOVABLE);
    site_expect(&s, "w1", NULL, NULL,
                "wait CO CheckUnknown w1 a: virtual machine x/a does not say yet whether it can be "
                "migrated (condition LiveMigratable)\n"
                "wait CO CheckUnknown w1 b: virtual machine x/b does not say yet whether it can be "
                "migrated (condition LiveMigratable)\n"
                "wait CO CheckUnknown w1 c: virtual machine x/c has the evictionStrategy Teleport, "
                "which this check does not know\n");
    site_done(&s);
}

static void migrations_under_way_are_told(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    machine(&s, "a", MIGRATE, MOVABLE ",'migrationState':{'sourceNode':'w1','targetNode':'w2'}");
    machine(&s, "b", MIGRATE,
            MOVABLE ",'migrationState':{'sourceNode':'w1','targetNode':'w2','completed':true,"
                    "'failed':true,'failureReason':'out of memory'}");
    /* It came here by a migration. */
    machine(&s, "c", MIGRATE,
            MOVABLE ",'migrationState':{'sourceNode':'w3','targetNode':'w1','completed':true}");
    machine(&s, "d", "'evictionStrategy':'External'", MOVABLE);
    site_expect(&s, "w1", NULL, NULL,
                "wait O EvictionInProgress w1 a: virtual machine x/a is migrating to node w2\n"
                "wait O EvictionInProgress w1 b: virtual machine x/b has to migrate; the last "
                "attempt failed: out of memory\n"
                "wait O EvictionInProgress w1 c: virtual machine x/c runs here and leaves by live "
                "migration when the node is drained\n"
                "wait O EvictionInProgress w1 d: virtual machine x/d is moved by somebody else "
                "(External)\n");
    site_expect(&s, "w2", NULL, NULL,
                "wait C EvictionInProgress w2 a: virtual machine x/a is migrating to this node\n");
    site_done(&s);
}

static void machines_that_have_ended_do_not_count(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "kubevirt");
    site_add(&s, SOURCE_VMIS,
             "{'metadata':{'name':'a','namespace':'x'},'spec':{" MIGRATE "},'status':{'nodeName':"
             "'w1','phase':'Succeeded'" FIXED "}}");
    site_add(&s, SOURCE_VMIS, /* is not scheduled yet */
             "{'metadata':{'name':'b','namespace':'x'},'spec':{" MIGRATE "},'status':{'phase':"
             "'Scheduling'}}");
    site_expect(&s, "w1", NULL, NULL, "pass CO - w1: no virtual machine stands in the way\n");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(migratable_machines_gate_the_operation_only),
        cmocka_unit_test(a_machine_that_must_and_cannot_migrate_is_denied),
        cmocka_unit_test(the_clusters_default_counts),
        cmocka_unit_test(of_several_defaults_it_is_the_first),
        cmocka_unit_test(what_is_not_known_waits),
        cmocka_unit_test(migrations_under_way_are_told),
        cmocka_unit_test(machines_that_have_ended_do_not_count),
    };
    return cmocka_run_group_tests_name("engine/check_kubevirt", tests, NULL, NULL);
}
