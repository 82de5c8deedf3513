/* Tests of src/cli/stopping.c: what happens when somebody else pauses at the same time. What users
 * see of it is in tests/cli/test_pause.py. */
#include "cli/stopping.h"

#include "support/desk.h"

struct fixture {
    struct desk d;
    struct stopping st;
    bool stopped;     /* when it is looked at */
    int code;         /* of every change; 0: it is done */
    const char *word; /* of the same */
    bool lost;        /* the next one is done without an answer */
    int changes;
};

#define STOP                                                                                       \
    "{\"metadata\":{\"name\":\"slipway-pause\",\"namespace\":\"sys\",\"uid\":\"u1\","              \
    "\"resourceVersion\":\"5\"},\"data\":{\"pause\":\"{}\"}}"

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    if (streq(req->method, "GET")) {
        if (strstr(req->path, "/leases?"))
            desk_list(c, "Lease", "coordination.k8s.io/v1", "");
        else
            desk_list(c, "ConfigMap", "v1", f->stopped ? STOP : "");
        return;
    }
    f->changes++;
    if (f->lost) {
        f->lost = false;
        f->code = streq(req->method, "POST") ? 409 : 404;
        f->word = streq(req->method, "POST") ? "AlreadyExists" : "NotFound";
        server_reset(c);
    } else if (f->code) {
        desk_status(c, f->code, f->word);
    } else {
        server_reply(c, streq(req->method, "POST") ? 201 : 200, DESK_JSON, STOP);
    }
}

static void start(struct fixture *f, bool stopped) {
    memset(f, 0, sizeof *f);
    f->stopped = stopped;
    desk_start(&f->d, handle, f);
    f->st =
        (struct stopping){.session = &f->d.session, .ns = "sys", .stop = {.by = "ops", .since = 1}};
}

static void pausing_twice(void **state) {
    (void)state;
    struct fixture f;
    start(&f, false);
    f.code = 409;
    f.word = "AlreadyExists";
    assert_int_equal(stopping_pause(&f.st), EXIT_DONE);
    assert_string_equal(desk_said(&f.d), "everything already paused in namespace sys\n");
    desk_end(&f.d);
    start(&f, false);
    f.lost = true;
    assert_int_equal(stopping_pause(&f.st), EXIT_DONE);
    assert_string_equal(desk_said(&f.d), "everything paused in namespace sys\n");
    assert_int_equal(f.changes, 2);
    desk_end(&f.d);
}

static void what_is_forbidden(void **state) {
    (void)state;
    struct fixture f;
    start(&f, false);
    f.code = 403;
    f.word = "Forbidden";
    assert_int_equal(stopping_pause(&f.st), EXIT_ACCESS);
    assert_non_null(strstr(desk_told(&f.d), "unable to pause everything in namespace sys"));
    assert_string_equal(desk_said(&f.d), "");
    desk_end(&f.d);
}

/* Who has paused in the meantime has reasons of his own. */
static void paused_anew(void **state) {
    (void)state;
    struct fixture f;
    start(&f, true);
    f.code = 409;
    f.word = "Conflict";
    assert_int_equal(stopping_resume(&f.st), EXIT_REFUSED);
    assert_non_null(strstr(desk_told(&f.d), "anew in the meantime: it stays paused"));
    desk_end(&f.d);
    start(&f, true);
    f.lost = true;
    assert_int_equal(stopping_resume(&f.st), EXIT_DONE);
    assert_string_equal(desk_said(&f.d), "everything resumed in namespace sys\n");
    desk_end(&f.d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pausing_twice),
        cmocka_unit_test(what_is_forbidden),
        cmocka_unit_test(paused_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
