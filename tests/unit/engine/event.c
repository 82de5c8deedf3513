/* Tests of engine/event.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/event.h"

static struct event some(void) {
    return (struct event){.api_version = "v1",
                          .kind = "Node",
                          .name = "w1",
                          .reason = "Drained",
                          .message = "all pods that can go are gone",
                          .at = SEC(1794729600)};
}

static const char *text_of(const json_t *doc, const char *key) {
    return strna(json_string_value(json_object_get(doc, key)));
}

static void the_body(void **state) {
    struct event e = some();
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    event_body(&e, "w1.1", &out);
    _cleanup_json_ json_t *doc = json_loads(str_get(&out), 0, NULL);
    const json_t *about = json_object_get(doc, "involvedObject");
    assert_string_equal(text_of(json_object_get(doc, "metadata"), "name"), "w1.1");
    assert_string_equal(text_of(json_object_get(doc, "metadata"), "namespace"), "default");
    assert_string_equal(text_of(about, "kind"), "Node");
    assert_string_equal(text_of(about, "uid"), "w1"); /* as kubelets have it */
    assert_string_equal(text_of(doc, "type"), "Normal");
    assert_string_equal(text_of(doc, "reason"), "Drained");
    assert_string_equal(text_of(doc, "reportingInstance"), "slipway");
    assert_string_equal(text_of(doc, "firstTimestamp"), "2026-11-15T08:00:00Z");
    e.uid = "u";
    e.by = "alice";
    e.warning = true;
    str_reset(&out);
    event_body(&e, "w1.1", &out);
    assert_non_null(strstr(str_get(&out), "\"uid\":\"u\""));
    assert_non_null(strstr(str_get(&out), "\"reportingInstance\":\"alice\""));
    assert_non_null(strstr(str_get(&out), "\"Warning\""));
}

static void once_more(void **state) {
    struct event e = some();
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    event_again(&e, 3, &out);
    assert_string_equal(str_get(&out), "{\"lastTimestamp\":\"2026-11-15T08:00:00Z\",\"count\":3}");
}

/* The same Event has the same name, another one another; a long name is cut, and ends like one. */
static void names(void **state) {
    char a[EVENT_NAME_LEN + 1], b[EVENT_NAME_LEN + 1], node[400];
    struct event e = some();
    (void)state;
    event_name(&e, a);
    event_name(&e, b);
    assert_string_equal(a, b);
    assert_true(str_starts(a, "w1."));
    e.message = "others";
    event_name(&e, b);
    assert_string_not_equal(a, b);
    memset(node, 'x', sizeof node);
    memset(node + 230, '.', 20);
    node[300] = '\0';
    e.name = node;
    event_name(&e, a);
    assert_true(strlen(a) <= EVENT_NAME_LEN);
    assert_null(strstr(a, ".."));
}

/* No longer than the server takes, and no half characters. */
static void long_messages(void **state) {
    char text[3000];
    struct event e = some();
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    text[0] = 'x'; /* so that the limit is in the middle of one */
    text[1] = 'y';
    memmove(text, text + 1, strlen(text));
    e.message = text;
    event_body(&e, "n", &out);
    _cleanup_json_ json_t *doc = json_loads(str_get(&out), 0, NULL);
    assert_non_null(doc);
    assert_int_equal(strlen(text_of(doc, "message")), EVENT_MESSAGE_LEN - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body),
        cmocka_unit_test(once_more),
        cmocka_unit_test(names),
        cmocka_unit_test(long_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
