/* Tests of src/cli/doctor_server.c, against a real server on loopback. */
#include "cli/doctor_server.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/checks.h"
#include "kube/permissions.h"
#include "support/server.h"

#define JSON "Content-Type: application/json\r\n"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct doctor_findings findings;
    int err[2];
    /* What the server does. */
    const char *version, *date; /* date: a header line */
    const char *denied;         /* the verb that nobody may use */
    bool silent;                /* reviews have no answer that can be read */
    const char *groups;         /* of discovery */
    int reviews;
};

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    if (str_starts(req->path, "/version")) {
        _cleanup_free_ char *head = xasprintf(JSON "%s", strna(f->date));
        server_reply(c, 200, head, f->version);
        return;
    }
    if (streq(req->path, "/apis")) {
        server_reply(c, f->groups ? 200 : 403, JSON, f->groups ? f->groups : "{}");
        return;
    }
    _cleanup_json_ json_t *body = json_loads(req->body, 0, NULL);
    const json_t *asked = json_object_get(json_object_get(body, "spec"), "resourceAttributes");
    bool no = f->denied && str_same(json_str(asked, "verb"), f->denied);
    f->reviews++;
    server_reply(c, 201, JSON,
                 f->silent ? "{\"status\":{}}"
                 : no      ? "{\"status\":{\"allowed\":false}}"
                           : "{\"status\":{\"allowed\":true}}");
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static void start(struct fixture *f, const char *version) {
    *f = (struct fixture){.version = version};
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli =
        (struct cli){.prog = "slipway", .env = no_env, .out = {.fd = -1}, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
}

static void end(struct fixture *f) {
    doctor_findings_done(&f->findings);
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

static const struct doctor_finding *found(const struct fixture *f, const char *check) {
    for (size_t i = 0; i < f->findings.list.len; i++)
        if (streq(f->findings.list.p[i].check, check))
            return &f->findings.list.p[i];
    return NULL;
}

static void versions(void **state) {
    (void)state;
    static const struct {
        const char *version;
        enum state state;
    } cases[] = {
        {"{\"gitVersion\":\"v1.36.3\",\"minor\":\"36\"}", STATE_GOOD},
        {"{\"gitVersion\":\"v1.34.1-eks\",\"minor\":\"34+\"}", STATE_GOOD},
        {"{\"gitVersion\":\"v1.25.0\",\"minor\":\"25\"}", STATE_WARN},
        {"{\"gitVersion\":\"v1.99.0\",\"minor\":\"99\"}", STATE_WARN},
        {"{\"gitVersion\":\"v1.20.0\",\"minor\":\"20\"}", STATE_BAD},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        start(&f, cases[i].version);
        assert_int_equal(doctor_ask_server(&f.session, &f.findings), 0);
        assert_int_equal(found(&f, "version")->state, cases[i].state);
        assert_int_equal(found(&f, "reach")->state, STATE_GOOD);
        assert_non_null(strstr(found(&f, "reach")->text, f.url));
        end(&f);
    }
}

static void no_kubernetes(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "{}");
    assert_int_equal(doctor_ask_server(&f.session, &f.findings), session_code(KUBE_NOT_KUBERNETES));
    assert_int_equal(f.findings.list.len, 0);
    end(&f);
}

/* A clock that is years away. */
static void clocks(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "{\"gitVersion\":\"v1.36.3\",\"minor\":\"36\"}");
    f.date = "Date: Tue, 01 Jan 2036 00:00:00 GMT\r\n";
    assert_int_equal(doctor_ask_server(&f.session, &f.findings), 0);
    assert_int_equal(found(&f, "clock")->state, STATE_BAD);
    assert_non_null(strstr(found(&f, "clock")->text, " s behind the server's"));
    end(&f);
}

static void permissions_that_are_missing(void **state) {
    (void)state;
    struct fixture f;
    size_t asked = 0, missing = 0;
    start(&f, "{}");
    f.denied = "create";
    doctor_ask_permissions(&f.session, &f.findings);
    size_t at = 0;
    for (size_t i = 0; i < n_permissions; i++) {
        bool needs = false;
        if (permissions[i].where) /* no such system is there */
            continue;
        for (const char *const *verb = permissions[i].verbs; *verb; verb++, asked++)
            needs |= streq(*verb, "create");
        const struct doctor_finding *d = &f.findings.list.p[at++];
        missing += needs;
        assert_int_equal(d->state, !needs                    ? STATE_GOOD
                                   : permissions[i].optional ? STATE_WARN
                                                             : STATE_BAD);
        assert_int_equal(needs, d->hint != NULL);
        if (needs)
            assert_non_null(strstr(d->text, "create "));
    }
    assert_int_equal(f.findings.list.len, at);
    assert_true(missing > 0 && missing < n_permissions);
    assert_int_equal(f.reviews, asked); /* each once */
    end(&f);
}

/* What a system's check reads is asked for where the system is. */
static void permissions_of_systems_that_are_there(void **state) {
    (void)state;
    struct fixture f;
    size_t longhorn = 0, others = 0;
    start(&f, "{}");
    f.groups = "{\"groups\":[{\"name\":\"apps\"},{\"name\":\"longhorn.io\"}]}";
    f.denied = "watch";
    doctor_ask_permissions(&f.session, &f.findings);
    for (size_t i = 0; i < f.findings.list.len; i++) {
        const struct doctor_finding *d = &f.findings.list.p[i];
        others += strstr(d->text, "rook.io") || strstr(d->text, "configmaps");
        if (!strstr(d->text, "longhorn.io"))
            continue;
        longhorn++;
        assert_int_equal(d->state, STATE_WARN);
        assert_non_null(strstr(d->text, "watch "));
        assert_non_null(strstr(d->text, "to ask Longhorn before a node is drained"));
    }
    assert_int_equal(longhorn, 6);
    assert_int_equal(others, 0);
    end(&f);
}

static bool has_permission(const struct kind *kind, const char *verb) {
    for (size_t i = 0; i < n_permissions; i++)
        if (streq(permissions[i].group, kind->group) &&
            streq(permissions[i].resource, kind->resource) && !permissions[i].subresource)
            for (const char *const *v = permissions[i].verbs; *v; v++)
                if (streq(*v, verb))
                    return true;
    return false;
}

/* Whatever a check or a verb reads is in the table. */
static void the_table_is_whole(void **state) {
    static const struct kind *const listed[] = {&kind_node,
                                                &kind_pod,
                                                &kind_pdb,
                                                &kind_replica_set,
                                                &kind_stateful_set,
                                                &kind_deployment,
                                                &kind_namespace,
                                                &kind_pv,
                                                &kind_pvc,
                                                &kind_event,
                                                &kind_daemon_set,
                                                &kind_storage_class,
                                                &kind_volume_attachment};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(listed); i++)
        if (!has_permission(listed[i], "list"))
            fail_msg("list %s", listed[i]->resource);
    for (size_t i = 0; i < CHECK_SOURCES; i++)
        if (!has_permission(check_sources[i].kind, "list") ||
            !has_permission(check_sources[i].kind, "watch"))
            fail_msg("%s.%s", check_sources[i].kind->resource, check_sources[i].kind->group);
}

static void answers_that_say_nothing(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "{}");
    f.silent = true;
    doctor_ask_permissions(&f.session, &f.findings);
    for (size_t i = 0; i < f.findings.list.len; i++) {
        assert_int_equal(f.findings.list.p[i].state, STATE_BAD);
        assert_non_null(strstr(f.findings.list.p[i].text, "cannot be asked"));
    }
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(no_kubernetes),
        cmocka_unit_test(clocks),
        cmocka_unit_test(permissions_that_are_missing),
        cmocka_unit_test(permissions_of_systems_that_are_there),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(answers_that_say_nothing),
    };
    return cmocka_run_group_tests_name("cli/doctor_server", tests, NULL, NULL);
}
