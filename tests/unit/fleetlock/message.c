/* Tests of src/fleetlock/message.c: what real clients send, what hostile ones do, and that nothing
 * but one kind of answer looks like a grant. */
#include "fleetlock/message.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

struct fixture {
    struct arena arena;
    struct fleetlock_request req;
    struct fleetlock_reply reply;
};

static bool post(struct fixture *f, const char *path, const char *body) {
    struct fleetlock_input in = {
        .method = "POST", .path = path, .header = "true", .body = view_of(body)};
    *f = (struct fixture){.arena = ARENA_INIT};
    return fleetlock_read(&in, &f->arena, &f->req, &f->reply);
}

static void done(struct fixture *f) {
    arena_done(&f->arena);
}

static void what_clients_send(void **state) {
    (void)state;
    struct fixture f;
    /* Zincati: over several lines */
    assert_true(
        post(&f, "/v1/pre-reboot",
             "{\n  \"client_params\": {\n    \"id\": \"978a225b3d7b40e9acd7ce9b62f68444\",\n"
             "    \"group\": \"default\"\n  }\n}"));
    assert_int_equal(f.req.api, FLEETLOCK_PRE_REBOOT);
    assert_string_equal(f.req.id, "978a225b3d7b40e9acd7ce9b62f68444");
    assert_string_equal(f.req.group, "default");
    done(&f);
    /* curl -d, with a line end, another order and a member more */
    assert_true(
        post(&f, "/v1/steady-state",
             "{\"client_params\":{\"group\":\"Workers.eu-1\",\"id\":\"w1\",\"x\":1},\"y\":2}\n"));
    assert_int_equal(f.req.api, FLEETLOCK_STEADY_STATE);
    assert_string_equal(f.req.group, "Workers.eu-1");
    done(&f);
}

static void what_is_refused_and_how(void **state) {
    (void)state;
#define GOOD "{\"client_params\":{\"id\":\"a\",\"group\":\"b\"}}"
    static const struct {
        const char *method, *path, *header, *body;
        const char *kind;
        int status;
        const char *value;
    } cases[] = {
        {"GET", "/v1/pre-reboot", "true", "", "method_not_allowed", 405, "POST"},
        {"HEAD", "/v1/pre-reboot", "true", "", "method_not_allowed", 405, "POST"},
        {"post", "/v1/pre-reboot", "true", GOOD, "method_not_allowed", 405, "POST"},
        {"POST", "/", "true", GOOD, "unknown_path", 404, "/v1/pre-reboot"},
        {"GET", "/metrics", NULL, "", "unknown_path", 404, "/v1/pre-reboot"},
        {"POST", "/v1/pre-reboot/", "true", GOOD, "unknown_path", 404, "/v1/pre-reboot"},
        {"POST", "//v1/pre-reboot", "true", GOOD, "unknown_path", 404, "/v1/pre-reboot"},
        {"POST", "/v1/pre-reboot", NULL, GOOD, "missing_header", 400, "fleet-lock-protocol: true"},
        {"POST", "/v1/pre-reboot", "", GOOD, "missing_header", 400, "fleet-lock-protocol: true"},
        {"POST", "/v1/pre-reboot", "True", GOOD, "missing_header", 400, "fleet-lock-protocol"},
        {"POST", "/v1/pre-reboot", "true", "", "bad_request", 400, "no JSON"},
        {"POST", "/v1/pre-reboot", "true", "{", "bad_request", 400, "no JSON"},
        {"POST", "/v1/pre-reboot", "true", GOOD GOOD, "bad_request", 400, "no JSON"},
        {"POST", "/v1/pre-reboot", "true", "{\n \"a\" 1}", "bad_request", 400,
         "the body is no JSON: line 2, column"},
        {"POST", "/v1/pre-reboot", "true", "{\"a\":1,\"a\":2}", "bad_request", 400,
         "the body has a key twice: line 1, column"},
        {"POST", "/v1/pre-reboot", "true", "{\"a\":\"\\u0000\"}", "bad_request", 400,
         "the body has a NUL in a text: line 1, column"},
        {"POST", "/v1/pre-reboot", "true", "null", "bad_request", 400,
         "the body has no client_params"},
        {"POST", "/v1/pre-reboot", "true", "[]", "bad_request", 400, "client_params"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":1}", "bad_request", 400,
         "client_params"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"group\":\"b\"}}", "bad_request",
         400, "client_params.id"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"\",\"group\":\"b\"}}",
         "bad_request", 400, "client_params.id"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":7,\"group\":\"b\"}}",
         "bad_request", 400, "client_params.id"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"a\\nb\",\"group\":\"b\"}}",
         "bad_request", 400, "client_params.id"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"a\"}}", "bad_request", 400,
         "client_params.group"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"a\",\"group\":\"\"}}",
         "bad_request", 400, "client_params.group"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"a\",\"group\":\"b/c\"}}",
         "bad_request", 400, "client_params.group"},
        {"POST", "/v1/pre-reboot", "true",
         "{\"client_params\":{\"id\":\"a\",\"group\":\"\303\251\"}}", "bad_request", 400,
         "client_params.group"},
        {"POST", "/v1/pre-reboot", "true",
         "{\"client_params\":{\"id\":\"a\",\"id\":\"b\",\"group\":\"b\"}}", "bad_request", 400,
         "a key twice"},
        {"POST", "/v1/pre-reboot", "true", "{\"client_params\":{\"id\":\"\377\",\"group\":\"b\"}}",
         "bad_request", 400, "no JSON"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fleetlock_input in = {.method = cases[i].method,
                                     .path = cases[i].path,
                                     .header = cases[i].header,
                                     .body = view_of(cases[i].body)};
        struct fixture f = {.arena = ARENA_INIT};
        _cleanup_str_ struct str body = STR_INIT;
        assert_false(fleetlock_read(&in, &f.arena, &f.req, &f.reply));
        assert_int_equal(fleetlock_write(&f.reply, 404, &body), cases[i].status);
        _cleanup_json_ json_t *root = json_loads(str_get(&body), 0, NULL);
        assert_string_equal(json_str(root, "kind"), cases[i].kind);
        assert_non_null(strstr(json_str(root, "value"), cases[i].value));
        done(&f);
    }
}

static void lengths_have_limits(void **state) {
    (void)state;
    struct fixture f;
    _cleanup_str_ struct str body = STR_INIT;
    for (unsigned more = 0; more < 2; more++) {
        str_reset(&body);
        str_add(&body, "{\"client_params\":{\"group\":\"b\",\"id\":\"");
        for (unsigned i = 0; i < 256 + more; i++)
            str_addc(&body, 'x');
        str_add(&body, "\"}}");
        assert_int_equal(post(&f, "/v1/pre-reboot", str_get(&body)), !more);
        done(&f);
    }
    for (unsigned i = 0; body.len <= FLEETLOCK_BODY_MAX; i++)
        str_addc(&body, ' ');
    assert_false(post(&f, "/v1/pre-reboot", str_get(&body)));
    assert_int_equal(f.reply.kind, FLEETLOCK_TOO_LARGE);
    done(&f);
    struct fleetlock_input in = {
        .method = "POST", .path = "/v1/pre-reboot", .header = "true", .too_large = true};
    f = (struct fixture){.arena = ARENA_INIT};
    assert_false(fleetlock_read(&in, &f.arena, &f.req, &f.reply));
    assert_int_equal(f.reply.kind, FLEETLOCK_TOO_LARGE);
    done(&f);
}

static void only_one_kind_looks_like_a_grant(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < FLEETLOCK_KINDS; kind++) {
        _cleanup_str_ struct str body = STR_INIT;
        struct fleetlock_reply reply = {(enum fleetlock_kind)kind, "a \"word\"\n"};
        int status = fleetlock_write(&reply, 423, &body);
        if (kind == FLEETLOCK_OK)
            assert_int_equal(status, 200);
        else
            assert_true(status >= 400 && status < 600);
        _cleanup_json_ json_t *root = json_loads(str_get(&body), 0, NULL);
        assert_string_equal(json_str(root, "value"), reply.value);
        assert_true(strlen(json_str(root, "kind")) > 0);
        assert_true(strlen(fleetlock_kinds[kind].meaning) > 0);
        for (unsigned other = 0; other < kind; other++)
            assert_string_not_equal(fleetlock_kinds[other].word, fleetlock_kinds[kind].word);
    }
    struct fleetlock_reply denied = {FLEETLOCK_SLOTS_FULL, "other nodes rebooting"};
    _cleanup_str_ struct str body = STR_INIT;
    assert_int_equal(fleetlock_write(&denied, 404, &body), 404);
    assert_string_equal(str_get(&body),
                        "{\"kind\":\"slots_full\",\"value\":\"other nodes rebooting\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_clients_send),
        cmocka_unit_test(what_is_refused_and_how),
        cmocka_unit_test(lengths_have_limits),
        cmocka_unit_test(only_one_kind_looks_like_a_grant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
