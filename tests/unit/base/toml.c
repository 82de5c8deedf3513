/* Tests of src/base/toml.c. */
#include "base/toml.h"

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
#include "base/str.h"

static void what_is_read(void **state) {
    (void)state;
    static const struct {
        const char *toml, *json;
    } cases[] = {
        {"", "{}"},
        {"# only this", "{}"},
        {"a = 1 # one\r\nb = \"x#y\"\n", "{\"a\":1,\"b\":\"x#y\"}"},
        {"[s]\nport = 9_090\ntls = false\n", "{\"s\":{\"port\":9090,\"tls\":false}}"},
        {"[a.b]\nc = -1\n[a]\nd = true", "{\"a\":{\"b\":{\"c\":-1},\"d\":true}}"},
        {"a.b.c = 'x\\y'", "{\"a\":{\"b\":{\"c\":\"x\\\\y\"}}}"},
        {"\"a b\" = \"q\\\"\\t\\\\\"", "{\"a b\":\"q\\\"\\t\\\\\"}"},
        {"l = [ \"a\", # x\n \"b\",\n]\nm=[]", "{\"l\":[\"a\",\"b\"],\"m\":[]}"},
        {"[lock]\nn=1\n[[lock.groups]]\nname=\"a\"\n[[lock.groups]]\nname=\"b\"\nslots=2",
         "{\"lock\":{\"n\":1,\"groups\":[{\"name\":\"a\"},{\"name\":\"b\",\"slots\":2}]}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_json_ json_t *v = NULL;
        if (toml_load("f", cases[i].toml, NULL, &v, &err))
            fail_msg("%s: %s", cases[i].toml, err_msg(&err));
        _cleanup_free_ char *text = json_dumps(v, JSON_COMPACT);
        assert_string_equal(text, cases[i].json);
    }
}

static void what_is_not(void **state) {
    (void)state;
    static const struct {
        const char *toml, *why;
    } cases[] = {
        {"a", "f:1: a key and no ="},
        {"[\"\xff\"]\na = 1", "f:1: a key is no UTF-8"},
        {"'\xff'.b = 1", "f:1: a key is no UTF-8"},
        {"a = [1]\n[[a]]", "f:2: something of this name is there already"},
        {"a = []\n[[a]]", "f:2: something of this name is there already"},
        {"= 1", "f:1: a key is missing"},
        {"\n\na = 1 2", "f:3: something follows"},
        {"a = 1\na = 2", "f:2: this key has a value already"},
        {"a = 1.5", "f:1: a value that is neither"},
        {"a = 1979-05-27", "f:1: a value that is neither"},
        {"a = {b=1}", "f:1: a value that is neither"},
        {"a = ", "f:1: a value that is neither"},
        {"a = 99999999999999999999", "f:1: a value that is neither"},
        {"a = truely", "f:1: a value that is neither"},
        {"a = \"x", "f:1: a string does not end"},
        {"a = \"\"\"x\"\"\"", "f:1: strings of several lines"},
        {"a = \"\\q\"", "f:1: an escape"},
        {"a = \"\xff\"", "f:1: a string is no UTF-8"},
        {"a = [1", "f:1: an array does not end"},
        {"a = [1 2]", "f:1: an array does not end"},
        {"a = [[[[[[[[[[[[[[[[[[[[", "f:1: arrays in arrays"},
        {"[a", "f:1: the name of a table does not end"},
        {"[[a]", "f:1: the name of a table does not end"},
        {"a = 1\n[a]", "f:2: a value of this name"},
        {"a = 1\n[a.b]", "f:2: a key that is a value"},
        {"[a]\n[[a]]", "f:2: something of this name is there already"},
        {"a = []\n[a]", "f:2: a value of this name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        json_t *v = NULL;
        assert_int_equal(toml_load("f", cases[i].toml, NULL, &v, &err), -EINVAL);
        if (!str_starts(err_msg(&err), cases[i].why))
            fail_msg("%s: %s", cases[i].toml, err_msg(&err));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read),
        cmocka_unit_test(what_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
