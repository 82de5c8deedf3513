/* Tests of src/engine/guard.c. Names, labels and selectors are what the operators themselves make
 * (spec 7). */
#include "engine/guard.h"

#include "support/world.h"

#include "engine/checks.h"

static void budgets_are_known_by_what_operators_make(void **state) {
    (void)state;
    static const struct {
        const char *pdb, *pod;
        int guard; /* -1: none */
    } cases[] = {
        {"{'metadata':{'name':'im-1'}}",
         "{'metadata':{'name':'im-1','labels':{'longhorn.io/component':'instance-manager'}}}",
         GUARD_LONGHORN},
        /* somebody's own: Longhorn does not remove it */
        {"{'metadata':{'name':'mine'}}",
         "{'metadata':{'name':'im-1','labels':{'longhorn.io/component':'instance-manager'}}}", -1},
        {"{'metadata':{'name':'web'}}", "{'metadata':{'name':'web'}}", -1},
        {"{'metadata':{'name':'db-primary'}}",
         "{'metadata':{'name':'db-1','labels':{'cnpg.io/cluster':'db'}}}", GUARD_CNPG_PRIMARY},
        /* that of the replicas does what it says */
        {"{'metadata':{'name':'db'}}",
         "{'metadata':{'name':'db-2','labels':{'cnpg.io/cluster':'db'}}}", -1},
        {"{'metadata':{'name':'db-primary'}}", "{'metadata':{'name':'db-1'}}", -1},
        {"{'metadata':{'name':'postgres-db-pdb'},'spec':{'selector':{'matchLabels':{'cluster-name':"
         "'db','spilo-role':'master'}}}}",
         "{'metadata':{'name':'db-0','labels':{'cluster-name':'db','spilo-role':'master'}}}",
         GUARD_ZALANDO_MASTER},
        /* configured to select all pods of the cluster */
        {"{'metadata':{'name':'postgres-db-pdb'},'spec':{'selector':{'matchLabels':{'cluster-name':"
         "'db'}}}}",
         "{'metadata':{'name':'db-0','labels':{'cluster-name':'db','spilo-role':'master'}}}", -1},
        {"{'metadata':{'name':'rook-ceph-osd'}}",
         "{'metadata':{'name':'o','labels':{'app':'rook-ceph-osd'}}}", GUARD_ROOK_OSD},
        {"{'metadata':{'name':'rook-ceph-osd-host-w2'}}",
         "{'metadata':{'name':'o','labels':{'app':'rook-ceph-osd'}}}", GUARD_ROOK_OSD},
        {"{'metadata':{'name':'rook-ceph-mon-pdb'}}",
         "{'metadata':{'name':'m','labels':{'app':'rook-ceph-mon'}}}", GUARD_ROOK_MON},
        {"{'metadata':{'name':'rook-ceph-osd'}}",
         "{'metadata':{'name':'m','labels':{'app':'rook-ceph-mon'}}}", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        const struct pdb *pdbs[2] = {world_add(&w, &kind_pdb, cases[i].pdb)};
        const struct pod *pod = world_add(&w, &kind_pod, cases[i].pod);
        const struct guard *wanted = cases[i].guard < 0 ? NULL : &guards[cases[i].guard];
        pdbs[1] = pdbs[0];
        assert_ptr_equal(guard_of(pdbs[0], pod), wanted);
        assert_ptr_equal(guard_of_pod(pod, pdbs, 1), wanted);
        assert_null(guard_of_pod(pod, pdbs, 0));
        assert_null(guard_of_pod(pod, pdbs, 2)); /* the server evicts none of these */
        world_done(&w);
    }
}

static void each_belongs_to_a_check(void **state) {
    (void)state;
    for (size_t i = 0; i < GUARDS; i++) {
        assert_non_null(check_find(guards[i].check));
        assert_true(*guards[i].words && *guards[i].hint);
        /* Nobody is told to take it away. */
        assert_null(strstr(guards[i].hint, "patch"));
        assert_null(strstr(guards[i].hint, "disable-eviction"));
    }
}

static void disks_stay_with_their_node(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    assert_true(guard_is_on_disk(world_add(
        &w, &kind_pod,
        "{'metadata':{'name':'a','labels':{'app':'rook-ceph-osd'}},'spec':{'nodeSelector':{"
        "'kubernetes.io/hostname':'w1'}}}")));
    /* on a volume that goes where it goes */
    assert_false(guard_is_on_disk(world_add(
        &w, &kind_pod, "{'metadata':{'name':'b','labels':{'app':'rook-ceph-osd'}},'spec':{}}")));
    assert_false(guard_is_on_disk(world_add(
        &w, &kind_pod,
        "{'metadata':{'name':'c'},'spec':{'nodeSelector':{'kubernetes.io/hostname':'w1'}}}")));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_known_by_what_operators_make),
        cmocka_unit_test(each_belongs_to_a_check),
        cmocka_unit_test(disks_stay_with_their_node),
    };
    return cmocka_run_group_tests_name("engine/guard", tests, NULL, NULL);
}
