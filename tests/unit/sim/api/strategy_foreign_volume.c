/* Tests of api/strategy_foreign_volume: sources of volumes that others provide. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_foreign_volume");
}

static void expect_source(const char *volume, const char *source, bool persistent,
                          const char *text) {
    _cleanup_json_ json_t *v = expect_json(volume);
    struct field_errors e = {0};
    struct at at = at_root(v);
    struct volume_place place = {"vol", persistent};
    assert_true(check_foreign_source(&e, &at, source, &place));
    expect_errors(&e, text);
}

static void test_sources(void **state) {
    (void)state;
    expect_source("{'nfs':{'server':'s','path':'/x'}}", "nfs", false, "");
    expect_source("{'nfs':{'path':'x/..'}}", "nfs", false,
                  "nfs.server: Required value\nnfs.path: Invalid value: \"x/..\": must be an "
                  "absolute path");
    expect_source("{'gcePersistentDisk':{'pdName':'','partition':256}}", "gcePersistentDisk", false,
                  "persistentDisk.pdName: Required value\npersistentDisk.partition: Invalid "
                  "value: 256: must be between 1 and 255, inclusive");
}

static void test_unknown(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'emptyDir':{}}");
    struct field_errors e = {0};
    struct at at = at_root(v);
    struct volume_place place = {"vol", false};
    (void)state;
    assert_false(check_foreign_source(&e, &at, "emptyDir", &place));
    assert_int_equal(e.v.len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
