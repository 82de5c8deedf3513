/* Tests of src/cli/airlock.c. */
#include "cli/airlock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static const json_t *spec(const json_t *list, size_t i) {
    return json_object_get(json_array_get(list, i), "spec");
}

static json_int_t slots(const json_t *list, size_t i) {
    return json_integer_value(json_object_get(spec(list, i), "maxUnavailable"));
}

static void one_group_has_all_nodes(void **state) {
    (void)state;
    static const char *const cases[] = {"", "[lock]\n",
                                        "[lock]\ndefault_group_name=\"Edge.1\"\ndefault_slots=3"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_json_ json_t *list = NULL;
        _cleanup_str_ struct str notes = STR_INIT;
        assert_int_equal(airlock_import("f", cases[i], &list, &notes, NULL), 0);
        assert_int_equal(json_array_size(list), 1);
        assert_int_equal(slots(list, 0), i == 2 ? 3 : 1);
        assert_int_equal(json_object_size(json_object_get(spec(list, 0), "nodeSelector")), 0);
        assert_string_equal(json_str(json_object_get(json_array_get(list, 0), "metadata"), "name"),
                            i == 2 ? "edge.1" : "default");
        assert_int_equal(notes.len, 0);
    }
}

static void several_groups_have_theirs(void **state) {
    (void)state;
    static const char file[] =
        "[service]\nport = 9090\ntls = false\n[etcd3]\nendpoints = [\"http://e:2379\"]\n"
        "[lock]\ndefault_slots = 2\n[[lock.groups]]\nname = \"workers\"\nslots = 5\n"
        "[[lock.groups]]\nname = \"edge\"\n";
    _cleanup_json_ json_t *list = NULL;
    _cleanup_str_ struct str notes = STR_INIT;
    assert_int_equal(airlock_import("f", file, &list, &notes, NULL), 0);
    assert_int_equal(json_array_size(list), 3);
    assert_int_equal(slots(list, 0), 2);
    assert_int_equal(slots(list, 1), 5);
    assert_int_equal(slots(list, 2), 2);
    _cleanup_free_ char *text = json_dumps(spec(list, 1), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(
        text, "{\"fleetlock\":{\"denyStatus\":423,\"groups\":[\"workers\"]},\"maxUnavailable\":5,"
              "\"nodeSelector\":{\"matchLabels\":{\"slipway.dev/fleetlock-group\":\"workers\"}}}");
    assert_non_null(strstr(str_get(&notes), "not carried over: [service]"));
    assert_non_null(strstr(str_get(&notes), "not carried over: [etcd3]"));
    assert_null(strstr(str_get(&notes), "[status]"));
    assert_non_null(
        strstr(str_get(&notes), "kubectl label node NODE slipway.dev/fleetlock-group=edge\n"));
}

static void what_cannot_be_carried_over_at_all(void **state) {
    (void)state;
    static const struct {
        const char *file, *why;
    } cases[] = {
        {"[updates]\nstrategy = \"fleet_lock\"",
         "f:1:2: airlock has no \"updates\": is it another program's file?"},
        {"[lock", "f:1: "},
        {"[[lock.groups]]\nname=\"-a\"", "f: group \"-a\" cannot be"},
        {"[[lock.groups]]\nslots=1", "f: group \"\" cannot be"},
        {"[[lock.groups]]\nname=\"A\"\n[[lock.groups]]\nname=\"a\"",
         "f: group \"a\" is there twice"},
        {"[[lock.groups]]\nname=\"a\"\nslots=-1", "f:3:7: lock.groups.slots must be 0 to 1000000"},
        {"[lock]\ndefault_slots = 99999999999", "f:2:17: lock.default_slots must be 0 to 1000000"},
        {"[lock]\ndefault_slots = \"two\"", "f:2:17: lock.default_slots must be a number"},
        {"[lock]\n  default_slot = 2",
         "f:2:3: airlock has no \"lock.default_slot\": did you mean \"lock.default_slots\"?"},
        {"[[lock.groups]]\nname=\"a\"\nslot = 1",
         "f:3:1: airlock has no \"lock.groups.slot\": did you mean \"lock.groups.slots\"?"},
        {"[lock]\ndefault_group_name = 7", "f:2:22: lock.default_group_name must be a string"},
        {"[lock]\ngroups = \"x\"", "f:2:10: lock.groups is written as [[lock.groups]]"},
        {"[lock.groups]\nname = \"a\"", "f:1:2: lock.groups is written as [[lock.groups]]"},
        {"lock = 5", "f:1:8: lock must be a table"},
        {"[[lock]]", "f:1:3: lock must be a table"},
        {"[service]\ntls = 1", "f:2:7: service.tls must be true or false"},
        {"[etcd3]\nendpoints = \"a\"", "f:2:13: etcd3.endpoints must be a list of strings"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str notes = STR_INIT;
        json_t *list = NULL;
        assert_int_equal(airlock_import("f", cases[i].file, &list, &notes, &err), -EINVAL);
        if (!str_starts(err_msg(&err), cases[i].why))
            fail_msg("%s", err_msg(&err));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group_has_all_nodes),
        cmocka_unit_test(several_groups_have_theirs),
        cmocka_unit_test(what_cannot_be_carried_over_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
