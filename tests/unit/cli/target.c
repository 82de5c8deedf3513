/* Tests of src/cli/target.c, against a real server on loopback. */
#include "cli/target.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/verb.h"
#include "support/server.h"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct target target;
    int err[2];
    char said[8192];
};

static void start(struct fixture *f, server_fn *handle) {
    memset(f, 0, sizeof *f);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .verb = verb_find("cordon"), .env = getenv, .err = {.fd = f->err[1]}};
    if (!handle)
        return;
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

/* What was said on standard error since the last time. */
static const char *said(struct fixture *f) {
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

static void end(struct fixture *f) {
    if (f->server) {
        target_done(&f->session, &f->target);
        session_close(&f->session);
        server_stop(f->server);
    }
    target_forget(&f->target);
    free(f->url);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

/* The arguments, separated by blanks; "" is none. */
static int parse(struct fixture *f, const struct target_opts *opts, const char *line) {
    char *words[32];
    int n = 0;
    char *text = arena_strndup(&f->cli.arena, line, strlen(line)), *save = NULL;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    return target_parse(&f->cli, opts, n, words, &f->target);
}

static void names_are(const struct fixture *f, const char *want) {
    _cleanup_str_ struct str got = STR_INIT;
    for (size_t i = 0; i < f->target.names.len; i++)
        str_addf(&got, "%s%s", i ? " " : "", f->target.names.p[i]);
    assert_string_equal(str_get(&got), want);
}

/* --- the command line --- */

static void names_in_the_order_given_each_once(void **state) {
    (void)state;
    static const struct {
        const char *line, *names;
    } cases[] = {
        {"w2 w1", "w2 w1"},
        {"w2 w1 w2 w1 w3", "w2 w1 w3"},
        {"node/w1 nodes/w2 no/w3 Node/w4 w1 nodes.v1./w5", "w1 w2 w3 w4 w5"},
        {"ip-10-0-3-17.eu-west-1.compute.internal", "ip-10-0-3-17.eu-west-1.compute.internal"},
        {"w[08-11]", "w08 w09 w10 w11"},
        {"x w[1-4]!w3 w2", "x w1 w2 w4"},
        {"node/w[1-2]", "w1 w2"},
        {"w[0-8/4] no/w[1-5/2]", "w0 w4 w8 w1 w3 w5"},
        {"b,a", "a b"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, NULL);
        assert_int_equal(parse(&f, &(struct target_opts){0}, cases[i].line), 0);
        names_are(&f, cases[i].names);
        assert_null(f.target.selector);
        assert_string_equal(said(&f), "");
        end(&f);
    }
}

/* The words of kubectl 1.36, but for the program's name. */
static void usage_errors_are_kubectls(void **state) {
    (void)state;
    static const struct {
        const char *selector, *line, *said;
    } cases[] = {
        {NULL, "",
         "error: USAGE: cordon NODE [flags]\nSee 'slipway cordon -h' for help and examples\n"},
        {"a=b", "w1",
         "error: cannot specify both a node name and a --selector option\n"
         "See 'slipway cordon -h' for help and examples\n"},
        {NULL, "a/b/c",
         "error: arguments in resource/name form may not have more than one slash\n"},
        {NULL, "node/",
         "error: arguments in resource/name form must have a single resource and name\n"},
        {NULL, "/w1",
         "error: arguments in resource/name form must have a single resource and name\n"},
        {NULL, "w1 pod/w1", "error: you may only specify a single resource type\n"},
        {NULL, "pod/w1 node/w1", "error: you may only specify a single resource type\n"},
        {NULL, "pod/w1 a/b/c",
         "error: arguments in resource/name form may not have more than one slash\n"},
        {NULL, "pod/w1 ns/x", "error: expected resource of type node, got \"pod\"\n"},
        {NULL, "pod/w1", "error: expected resource of type node, got \"pod\"\n"},
        {NULL, "..", "error: invalid resource name \"..\": [may not be '..']\n"},
        {NULL, "node/.", "error: invalid resource name \".\": [may not be '.']\n"},
        {NULL, "w1 w%2", "error: invalid resource name \"w%2\": [may not contain '%']\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, NULL);
        struct target_opts opts = {.selector = cases[i].selector};
        assert_int_equal(parse(&f, &opts, cases[i].line), EXIT_USAGE);
        assert_string_equal(said(&f), cases[i].said);
        end(&f);
    }
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    static const struct {
        struct target_opts opts;
        const char *line, *piece;
    } cases[] = {
        {{.reason = "two\nlines"}, "w1", "--reason"},
        {{0}, "w[1-", "w[1-"},
        {{0}, "w[1-3]&x", "is empty"},
        {{0}, "w[1-9999999]", "more than 1000000 nodes"},
        {{0}, "@all", "group"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, NULL);
        assert_int_equal(parse(&f, &cases[i].opts, cases[i].line), EXIT_USAGE);
        assert_non_null(strstr(said(&f), cases[i].piece));
        assert_int_equal(f.target.names.len, 0);
        end(&f);
    }
}

static void an_empty_name_is_refused(void **state) {
    (void)state;
    struct fixture f;
    char *words[] = {(char *)""};
    start(&f, NULL);
    assert_int_equal(target_parse(&f.cli, &(struct target_opts){0}, 1, words, &f.target),
                     EXIT_USAGE);
    assert_string_equal(said(&f), "error: resource name may not be empty\n");
    end(&f);
}

/* GetDryRunStrategy() of kubectl. */
static void dry_run_as_kubectl_reads_it(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int means;
    } cases[] = {{"none", DRY_RUN_NONE},
                 {"client", DRY_RUN_CLIENT},
                 {"server", DRY_RUN_SERVER},
                 {"unchanged", DRY_RUN_CLIENT},
                 {"true", DRY_RUN_CLIENT},
                 {"false", DRY_RUN_NONE},
                 {"1", DRY_RUN_CLIENT},
                 {"0", DRY_RUN_NONE},
                 {"T", DRY_RUN_CLIENT},
                 {"F", DRY_RUN_NONE},
                 {"bogus", -1},
                 {"", -1},
                 {"Client", -1},
                 {"tRUE", -1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        int field = -1;
        int rc = target_parse_dry_run(cases[i].text, NULL, &field, &err);
        assert_int_equal(field, cases[i].means);
        assert_int_equal(rc == 0, cases[i].means >= 0);
        if (rc)
            assert_non_null(strstr(err_msg(&err), "Must be \"none\", \"server\", or \"client\"."));
        err_done(&err);
    }
    assert_string_equal(target_dry_run_suffix(DRY_RUN_NONE), "");
    assert_string_equal(target_dry_run_suffix(DRY_RUN_CLIENT), " (dry run)");
    assert_string_equal(target_dry_run_suffix(DRY_RUN_SERVER), " (server dry run)");
}

/* --- reading --- */

#define JSON "Content-Type: application/json\r\n"

/* A cluster of w1 to w20; it answers with the name that is asked for. */
static void serves_nodes(struct server_conn *c, const struct server_request *req, void *arg) {
    _cleanup_str_ struct str body = STR_INIT;
    (void)arg;
    if (!str_starts(req->path, "/api/v1/nodes?") && !str_starts(req->path, "/api/v1/nodes/")) {
        server_reply(c, 404, NULL, "");
    } else if (req->path[strlen("/api/v1/nodes")] == '?') {
        str_add(&body, "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":"
                       "{\"resourceVersion\":\"7\"},\"items\":[");
        int n = strstr(req->path, "labelSelector=none") ? 0
                : strstr(req->path, "labelSelector=")   ? 2
                                                        : 20;
        for (int i = n; i > 0; i--)
            str_addf(&body, "%s{\"metadata\":{\"name\":\"w%d\",\"uid\":\"u%d\"}}", i < n ? "," : "",
                     i, i);
        str_add(&body, "]}");
        server_reply(c, 200, JSON, str_get(&body));
    } else {
        const char *name = req->path + strlen("/api/v1/nodes/");
        if (name[0] == 'w')
            str_addf(&body,
                     "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"}}",
                     name);
        else
            str_addf(&body,
                     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                     "\"reason\":\"NotFound\",\"message\":\"nodes \\\"%s\\\" not found\","
                     "\"code\":404}",
                     name);
        server_reply(c, name[0] == 'w' ? 200 : 404, JSON, str_get(&body));
    }
}

static void nodes_are(const struct fixture *f, const char *want) {
    _cleanup_str_ struct str got = STR_INIT;
    for (size_t i = 0; i < f->target.nodes.len; i++)
        str_addf(&got, "%s%s", i ? " " : "", f->target.nodes.p[i]->meta.name);
    assert_string_equal(str_get(&got), want);
    names_are(f, want);
}

static void few_are_asked_for_by_name(void **state) {
    (void)state;
    struct fixture f;
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w2 w1"), 0);
    assert_int_equal(target_read(&f.session, &f.target), 0);
    nodes_are(&f, "w2 w1");
    assert_int_equal(server_requests(f.server), 2);
    assert_string_equal(server_request(f.server, 0)->path, "/api/v1/nodes/w2");
    end(&f);
}

static void many_are_listed(void **state) {
    (void)state;
    struct fixture f;
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w12 w[1-9]"), 0);
    assert_int_equal(target_read(&f.session, &f.target), 0);
    nodes_are(&f, "w12 w1 w2 w3 w4 w5 w6 w7 w8 w9");
    assert_int_equal(server_requests(f.server), 1);
    end(&f);
}

static void a_selector_is_the_servers_business(void **state) {
    (void)state;
    struct fixture f;
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){.selector = "zone=a"}, ""), 0);
    assert_int_equal(target_read(&f.session, &f.target), 0);
    nodes_are(&f, "w1 w2");
    assert_non_null(strstr(server_request(f.server, 0)->path, "labelSelector=zone%3Da"));
    end(&f);
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){.selector = "none"}, ""), 0);
    assert_int_equal(target_read(&f.session, &f.target), 0);
    nodes_are(&f, "");
    assert_string_equal(said(&f), "");
    end(&f);
}

static void each_that_is_missing_is_named(void **state) {
    (void)state;
    struct fixture f;
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w1 nope w2 W_1"), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_FAILED);
    assert_string_equal(said(&f), "Error from server (NotFound): nodes \"nope\" not found\n"
                                  "Error from server (NotFound): nodes \"W_1\" not found\n");
    end(&f);
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w[15-35]"), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_FAILED);
    assert_string_equal(said(&f), "Error from server (NotFound): nodes \"w[21-35]\" not found\n"
                                  "15 nodes of the node set do not exist\n");
    end(&f);
    /* Names as they were given, one line each, however many; sets as sets. */
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "a b c d e f g h i j k w[20-21] l w21 m"),
                     0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_FAILED);
    _cleanup_str_ struct str want = STR_INIT;
    for (int c = 'a'; c <= 'm'; c++)
        str_addf(&want, "Error from server (NotFound): nodes \"%c\" not found\n", c);
    str_add(&want, "Error from server (NotFound): nodes \"w21\" not found\n");
    assert_string_equal(said(&f), str_get(&want));
    end(&f);
    /* Few enough to be read one by one. */
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "nope w2 x[21-23]"), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_FAILED);
    assert_string_equal(said(&f), "Error from server (NotFound): nodes \"nope\" not found\n"
                                  "Error from server (NotFound): nodes \"x[21-23]\" not found\n"
                                  "3 nodes of the node set do not exist\n");
    end(&f);
}

/* The words of apiserver 1.36.3. */
static void refuses_selector(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 400, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                 "\"BadRequest\",\"message\":\"unable to parse requirement: found '!', expected: "
                 "identifier\",\"code\":400}");
}

static void the_server_says_what_is_wrong_with_a_selector(void **state) {
    (void)state;
    struct fixture f;
    start(&f, refuses_selector);
    assert_int_equal(parse(&f, &(struct target_opts){.selector = "!!"}, ""), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_USAGE);
    static const char first[] =
        "Error from server (BadRequest): Unable to find \"/v1, Resource=nodes\" that match label "
        "selector \"!!\", field selector \"\": unable to parse requirement: found '!', expected: "
        "identifier\n--selector: ";
    assert_ptr_equal(strstr(said(&f), first), f.said);
    assert_non_null(strstr(f.said, "character 2"));
    assert_int_equal(server_requests(f.server), 1);
    assert_non_null(strstr(server_request(f.server, 0)->path, "labelSelector=%21%21"));
    end(&f);
}

static void a_refusal_is_not_a_missing_node(void **state) {
    (void)state;
    struct fixture f;
    start(&f, refuses_selector);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w1 w2"), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_FAILED);
    assert_string_equal(said(&f), "Error from server (BadRequest): unable to parse requirement: "
                                  "found '!', expected: identifier\n");
    end(&f);
}

/* A newer server may know more than we do. */
static void a_selector_that_the_server_takes_is_good(void **state) {
    (void)state;
    struct fixture f;
    start(&f, serves_nodes);
    assert_int_equal(parse(&f, &(struct target_opts){.selector = "zone ~ a"}, ""), 0);
    assert_non_null(f.target.doubt);
    assert_int_equal(target_read(&f.session, &f.target), 0);
    nodes_are(&f, "w1 w2");
    assert_string_equal(said(&f), "");
    end(&f);
}

static void says_forbidden(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 403, JSON,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                 "\"Forbidden\",\"message\":\"nodes is forbidden: User \\\"u\\\" cannot\","
                 "\"code\":403}");
}

static void no_permission_is_said_once_in_kubectls_words(void **state) {
    (void)state;
    static const char words[] =
        "Error from server (Forbidden): nodes is forbidden: User \"u\" cannot\n";
    static const struct {
        const char *selector, *line;
    } cases[] = {{NULL, "w1 w2"}, {NULL, "w[1-20]"}, {"a=b", ""}, {"!!", ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, says_forbidden);
        struct target_opts opts = {.selector = cases[i].selector};
        assert_int_equal(parse(&f, &opts, cases[i].line), 0);
        assert_int_equal(target_read(&f.session, &f.target), EXIT_ACCESS);
        assert_string_equal(said(&f), words);
        assert_int_equal(server_requests(f.server), 1);
        /* Other verbs have their own. */
        assert_false(f.session.as_kubectl);
        end(&f);
    }
}

static void says_bad_gateway(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 404, "Content-Type: text/html\r\n", "<html>nginx</html>");
}

static void what_is_no_api_server_is_called_so(void **state) {
    (void)state;
    struct fixture f;
    start(&f, says_bad_gateway);
    assert_int_equal(parse(&f, &(struct target_opts){0}, "w1"), 0);
    assert_int_equal(target_read(&f.session, &f.target), EXIT_ACCESS);
    assert_ptr_equal(strstr(said(&f), "error: cannot read node \"w1\": "), f.said);
    assert_non_null(strstr(f.said, "does not answer like a Kubernetes API server"));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_the_order_given_each_once),
        cmocka_unit_test(usage_errors_are_kubectls),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(an_empty_name_is_refused),
        cmocka_unit_test(dry_run_as_kubectl_reads_it),
        cmocka_unit_test(few_are_asked_for_by_name),
        cmocka_unit_test(many_are_listed),
        cmocka_unit_test(a_selector_is_the_servers_business),
        cmocka_unit_test(each_that_is_missing_is_named),
        cmocka_unit_test(the_server_says_what_is_wrong_with_a_selector),
        cmocka_unit_test(a_refusal_is_not_a_missing_node),
        cmocka_unit_test(a_selector_that_the_server_takes_is_good),
        cmocka_unit_test(no_permission_is_said_once_in_kubectls_words),
        cmocka_unit_test(what_is_no_api_server_is_called_so),
    };
    return cmocka_run_group_tests_name("cli/target", tests, NULL, NULL);
}
