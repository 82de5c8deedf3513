/* Tests of src/cli/own_write.c, against a server on loopback that has one Maintenance. */
#include "cli/own_write.h"

#include "support/desk.h"

#include "base/json.h"

struct fixture {
    struct desk d;
    struct own_targets all;
    struct own_writing w;
    int version, patches, deletes;
    int conflicts; /* patches that somebody is faster than */
    bool lost;     /* the next patch is carried out without an answer */
    bool gone;     /* before our first patch */
    bool done;     /* it is what we want */
    char *body;    /* of the last DELETE */
};

static void reply(struct server_conn *c, const struct fixture *f) {
    _cleanup_free_ char *text =
        xasprintf("{\"kind\":\"Maintenance\",\"apiVersion\":\"slipway.dev/v1alpha1\",\"metadata\":"
                  "{\"name\":\"m\",\"uid\":\"u1\",\"resourceVersion\":\"%d\"},\"spec\":{\"paused\":"
                  "%s}}",
                  f->version, f->done ? "true" : "false");
    server_reply(c, 200, DESK_JSON, text);
}

static void patch(struct server_conn *c, struct fixture *f, const struct server_request *r) {
    _cleanup_json_ json_t *body = json_loads(r->body, 0, NULL);
    f->patches++;
    if (f->conflicts) {
        f->conflicts--;
        f->version++;
    }
    if (atoi(strna(json_str(json_object_get(body, "metadata"), "resourceVersion"))) != f->version) {
        desk_status(c, 409, "Conflict");
        return;
    }
    f->version++;
    f->done = true;
    if (f->lost) {
        f->lost = false;
        server_reset(c);
        return;
    }
    reply(c, f);
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    if (streq(req->method, "DELETE")) {
        f->deletes++;
        str_replace(&f->body, req->body);
        if (f->gone)
            desk_status(c, 404, "NotFound");
        else
            server_reply(c, 200, DESK_JSON,
                         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}");
    } else if (f->gone && !strchr(req->path, '?')) {
        desk_status(c, 404, "NotFound");
    } else if (streq(req->method, "PATCH")) {
        if (f->gone)
            desk_status(c, 409, "Conflict");
        else
            patch(c, f, req);
    } else if (strstr(req->path, "/maintenances/m")) {
        reply(c, f);
    } else if (strstr(req->path, "/maintenances?")) {
        desk_list(c, "Maintenance", "slipway.dev/v1alpha1",
                  "{\"metadata\":{\"name\":\"m\",\"uid\":\"u1\",\"resourceVersion\":\"5\"}}");
    } else {
        desk_list(c, "Rollout", "slipway.dev/v1alpha1", "");
    }
}

static void start(struct fixture *f) {
    char word[] = "m";
    char *argv[] = {word};
    memset(f, 0, sizeof *f);
    f->version = 5;
    desk_start(&f->d, handle, f);
    assert_int_equal(own_targets_read(&f->d.session, false, 1, argv, &f->all), 0);
    f->w = (struct own_writing){.session = &f->d.session, .verb = "pause"};
}

static void end(struct fixture *f) {
    own_targets_done(&f->all);
    free(f->body);
    desk_end(&f->d);
}

static int decide(void *arg, const struct object *obj, struct jsonw *w) {
    int *asked = arg;
    ++*asked;
    if (((const struct maintenance *)obj)->paused == 1)
        return 0;
    jsonw_end(w);
    jsonw_kbegin(w, "spec", '{');
    jsonw_kbool(w, "paused", true);
    jsonw_end(w);
    return 1;
}

static void somebody_was_faster(void **state) {
    (void)state;
    struct fixture f;
    int asked = 0;
    bool changed;
    start(&f);
    f.conflicts = 2;
    assert_int_equal(own_patch(&f.w, &f.all.list.p[0], decide, &asked, &changed), 0);
    assert_true(changed && f.done);
    assert_int_equal(f.patches, 3);
    assert_int_equal(asked, 3); /* each time anew */
    end(&f);
    start(&f);
    f.conflicts = 100;
    assert_int_equal(own_patch(&f.w, &f.all.list.p[0], decide, &asked, &changed), EXIT_FAILED);
    assert_non_null(strstr(desk_told(&f.d), "others change it all the time"));
    end(&f);
}

/* What we have written without an answer was written by us. */
static void an_answer_that_was_lost(void **state) {
    (void)state;
    struct fixture f;
    int asked = 0;
    bool changed;
    start(&f);
    f.lost = true;
    assert_int_equal(own_patch(&f.w, &f.all.list.p[0], decide, &asked, &changed), 0);
    assert_true(changed && f.done);
    end(&f);
}

static void one_that_is_gone(void **state) {
    (void)state;
    struct fixture f;
    int asked = 0;
    bool changed;
    start(&f);
    f.gone = true;
    assert_int_equal(own_patch(&f.w, &f.all.list.p[0], decide, &asked, &changed), EXIT_FAILED);
    assert_non_null(strstr(desk_told(&f.d), "it was deleted in the meantime"));
    assert_int_equal(own_delete(&f.w, &f.all.list.p[0], &changed), 0);
    assert_false(changed);
    end(&f);
}

static void the_very_object_is_deleted(void **state) {
    (void)state;
    struct fixture f;
    bool changed;
    start(&f);
    f.w.dry_run = DRY_RUN_CLIENT;
    assert_int_equal(own_delete(&f.w, &f.all.list.p[0], &changed), 0);
    assert_int_equal(f.deletes, 0);
    f.w.dry_run = DRY_RUN_SERVER;
    assert_int_equal(own_delete(&f.w, &f.all.list.p[0], &changed), 0);
    assert_non_null(strstr(f.body, "\"dryRun\":[\"All\"]")); /* in the query nobody looks */
    f.w.dry_run = DRY_RUN_NONE;
    assert_int_equal(own_delete(&f.w, &f.all.list.p[0], &changed), 0);
    assert_true(changed);
    assert_non_null(strstr(f.body, "\"preconditions\":{\"uid\":\"u1\"}"));
    assert_null(strstr(f.body, "dryRun"));
    own_tell(&f.w, &f.all.list.p[0], false, "aborted");
    assert_string_equal(desk_said(&f.d), "maintenance/m already aborted\n");
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(somebody_was_faster),
        cmocka_unit_test(an_answer_that_was_lost),
        cmocka_unit_test(one_that_is_gone),
        cmocka_unit_test(the_very_object_is_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
