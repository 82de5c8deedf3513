/* Tests of src/model/workload.c. */
#include "model/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(const char *kind, const char *name, const char *wanted) {
    _cleanup_str_ struct str out = STR_INIT;
    workload_name_of("ns", "p-1", kind, name, &out);
    assert_string_equal(str_get(&out), wanted);
}

static void test_names(void **state) {
    (void)state;
    /* names as a real cluster makes them */
    expect("ReplicaSet", "web-fd59b56bd", "ns/Deployment/web");
    expect("ReplicaSet", "a-b-c-7c9d8f6b54", "ns/Deployment/a-b-c");
    expect("StatefulSet", "db", "ns/StatefulSet/db");
    expect("StatefulSet", "db-7c9d8f6b54", "ns/StatefulSet/db-7c9d8f6b54");
    expect("DaemonSet", "agent", "ns/DaemonSet/agent");
    expect("Job", "backup-29384756", "ns/CronJob/backup");
    expect("Job", "backup", "ns/Job/backup");
    expect("Rollout", "x", "ns/Rollout/x");
}

/* What only looks like it. */
static void test_no_hash(void **state) {
    (void)state;
    expect("ReplicaSet", "frontend", "ns/ReplicaSet/frontend");
    expect("ReplicaSet", "web-blue", "ns/ReplicaSet/web-blue");               /* a vowel */
    expect("ReplicaSet", "web-x2", "ns/ReplicaSet/web-x2");                   /* too short */
    expect("ReplicaSet", "web-bcdfghjklmn", "ns/ReplicaSet/web-bcdfghjklmn"); /* too long */
    expect("ReplicaSet", "-fd59b56bd", "ns/ReplicaSet/-fd59b56bd");           /* of nothing */
    expect("Job", "import-2024", "ns/Job/import-2024");
    expect("Job", "import-2938475612", "ns/Job/import-2938475612"); /* no minute of this age */
    expect("Job", "import-2938475x", "ns/Job/import-2938475x");
}

static void test_without_controller(void **state) {
    (void)state;
    expect(NULL, NULL, "ns/Pod/p-1");
    expect("", "", "ns/Pod/p-1");
    expect("ReplicaSet", "", "ns/Pod/p-1");
    expect("Node", "w1", "ns/Pod/p-1"); /* of a static pod */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_hash),
        cmocka_unit_test(test_without_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
