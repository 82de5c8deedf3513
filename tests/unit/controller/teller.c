/* Tests of src/controller/teller.c: who hears of what. The words are others'. */
#include "controller/teller.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/reason.h"
#include "support/policy_world.h"

struct fixture {
    struct policy_world w;
    struct loop *loop;
    struct metrics *metrics;
    struct teller *t;
    char path[32]; /* of the audit log */
    unsigned sent; /* Events */
};

static void on_send(void *arg, const struct action *a) {
    assert_true(a->kind == &kind_event);
    ((struct fixture *)arg)->sent++;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    pw_init(&f->w);
    f->loop = loop_new_virtual(SEC(1794729600));
    f->metrics = metrics_new(0);
    strcpy(f->path, "/tmp/teller-XXXXXX");
    close(mkstemp(f->path));
    assert_int_equal(teller_new(&(struct teller_opts){.loop = f->loop,
                                                      .log = &f->w.log,
                                                      .metrics = f->metrics,
                                                      .audit = f->path,
                                                      .identity = "me",
                                                      .policies = f->w.p,
                                                      .maintenances = f->w.maintenances,
                                                      .send = on_send,
                                                      .arg = f},
                                &f->t, NULL),
                     0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    teller_free(f->t);
    metrics_free(f->metrics);
    loop_free(f->loop);
    unlink(f->path);
    pw_done(&f->w);
    free(f);
    return 0;
}

#define TELLER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Whether the audit log has that. */
static bool has_audit(const struct fixture *f, const char *text) {
    char all[4096];
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, all, sizeof all - 1);
    close(fd);
    assert_true(n >= 0);
    all[n] = '\0';
    return strstr(all, text);
}

static bool has_metric(const struct fixture *f, const char *line) {
    _cleanup_str_ struct str out = STR_INIT;
    metrics_write(f->metrics, false, &out);
    return strstr(str_get(&out), line);
}

static void a_note_of_a_slot_goes_to_all(void **state) {
    struct fixture *f = *state;
    teller_note(f->t, &(struct keeper_note){.policy = "default",
                                            .node = "w1",
                                            .by = "fleetlock",
                                            .operation = "Reboot",
                                            .reason = REASON_SLOT_TAKEN,
                                            .text = "holds a slot",
                                            .moves = true,
                                            .from = MAINT_QUEUED,
                                            .to = MAINT_DRAINING});
    assert_true(has_audit(f, "\"action\":\"SlotTaken\""));
    assert_true(
        has_metric(f, "slipway_transitions_total{policy=\"default\",reason=\"SlotTaken\"} 1"));
    assert_int_equal(f->sent, 1);
}

/* A write is done for whoever holds the slot of the node, or of the pod's node. */
static void a_write_is_somebodys(void **state) {
    struct fixture *f = *state;
    struct answer done = {.outcome = KUBE_OK, .code = 201};
    pw_record(&f->w, "default", PW_SLOT("w1", "fleetlock", "taken"));
    pw_step(&f->w);
    /* Which may be gone before the answer comes. */
    teller_action(f->t,
                  &(struct action){.verb = ACTION_EVICT,
                                   .kind = &kind_pod,
                                   .ns = "ns",
                                   .name = "p",
                                   .node = "w1",
                                   .grace = -1},
                  &done);
    assert_true(has_audit(f, "\"actor\":\"fleetlock\",\"action\":\"evict\""));
    teller_action(
        f->t,
        &(struct action){
            .verb = ACTION_PATCH, .kind = &kind_node, .name = "w2", .body = "{}", .grace = -1},
        &done);
    assert_true(has_audit(f, "\"object\":\"nodes/w2\""));
    assert_false(has_audit(f, "\"actor\":\"fleetlock\",\"action\":\"patch\""));
}

static unsigned lines(const struct fixture *f) {
    char text[4096];
    ssize_t n = pread(f->w.log.fd, text, sizeof text, 0);
    unsigned count = 0;
    for (ssize_t i = 0; i < n; i++)
        count += text[i] == '\n';
    return count;
}

/* Who waits for its phase finds nothing there: the log says why, and not each time. */
static void what_may_not_be_written_is_said(void **state) {
    struct fixture *f = *state;
    const struct answer no = {.outcome = KUBE_FORBIDDEN, .message = "you may not"},
                        stale = {.outcome = KUBE_CONFLICT, .message = "another version"};
    const struct action status = {.verb = ACTION_PATCH,
                                  .kind = &kind_maintenance,
                                  .name = "m1",
                                  .subresource = "status",
                                  .body = "{}",
                                  .grace = -1},
                        other = {.verb = ACTION_PATCH,
                                 .kind = &kind_rollout,
                                 .name = "r1",
                                 .subresource = "status",
                                 .body = "{}",
                                 .grace = -1};
    f->w.log = (struct log){.level = LOG_WARN, .fd = memfd_create("log", 0)};
    teller_action(f->t, &status, &stale);
    assert_int_equal(lines(f), 0);
    for (int i = 0; i < 5; i++) {
        teller_action(f->t, &status, &no);
        teller_action(f->t, &other, &no);
        loop_advance(f->loop, SEC(60));
    }
    assert_int_equal(lines(f), 2);
    loop_advance(f->loop, SEC(600));
    teller_action(f->t, &status, &no);
    assert_int_equal(lines(f), 3);
    char text[256] = "";
    assert_true(pread(f->w.log.fd, text, sizeof text - 1, 0) > 0);
    assert_non_null(
        strstr(text, "Maintenance m1 does not go on: its status cannot be written: you may not"));
    close(f->w.log.fd);
}

static void one_replica_sends_the_event(void **state) {
    struct fixture *f = *state;
    teller_node(f->t, "w1", REASON_RIVAL_AT_WORK, "has another manager at work", false);
    assert_int_equal(f->sent, 0);
    teller_node(f->t, "w1", REASON_RIVAL_AT_WORK, "has another manager at work", true);
    assert_int_equal(f->sent, 1);
}

static void what_is_denied_is_counted_only(void **state) {
    struct fixture *f = *state;
    struct keeper_reply full = {1, KEEPER_FULL, "other nodes rebooting"},
                        go = {2, KEEPER_GO, "granted"};
    struct teller_reply r = {
        .api = FLEETLOCK_PRE_REBOOT, .peer = "10.0.0.7:1", .node = "w1", .reply = &full, .took = 5};
    teller_reply(f->t, &r);
    assert_false(has_audit(f, "w1"));
    r.reply = &go;
    teller_reply(f->t, &r);
    assert_true(has_audit(f, "\"actor\":\"10.0.0.7:1\",\"action\":\"pre-reboot\""));
    teller_answered(f->t, FLEETLOCK_PRE_REBOOT, FLEETLOCK_SLOTS_FULL, 404);
    assert_true(has_metric(f, "kind=\"slots_full\""));
}

/* A drain that can never succeed is not only an Event. */
static void a_drain_that_fails_is_in_the_log(void **state) {
    struct fixture *f = *state;
    char text[512] = "";
    const struct drain_node failed = {
        .name = "w1", .phase = DRAIN_FAILED, .error = "pods/eviction is forbidden"};
    const struct drain_node done = {.name = "w2", .phase = DRAIN_DONE};
    f->w.log = (struct log){.level = LOG_WARN, .fd = memfd_create("log", 0)};
    teller_drain_note(f->t, &(struct drain_note){.kind = NOTE_PHASE, .node = &failed});
    teller_drain_note(f->t, &(struct drain_note){.kind = NOTE_PHASE, .node = &done});
    assert_true(pread(f->w.log.fd, text, sizeof text - 1, 0) > 0);
    assert_non_null(strstr(text, "node w1 is not drained: "));
    assert_non_null(strstr(text, "pods/eviction is forbidden"));
    assert_null(strstr(text, "w2"));
    close(f->w.log.fd);
}

static void an_audit_log_that_cannot_be_had_is_an_error(void **state) {
    struct fixture *f = *state;
    struct teller *t = NULL;
    assert_true(teller_new(&(struct teller_opts){.loop = f->loop,
                                                 .audit = "/nowhere/audit",
                                                 .identity = "me",
                                                 .log = &f->w.log},
                           &t, NULL) < 0);
    assert_null(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TELLER_TEST(a_note_of_a_slot_goes_to_all),
        TELLER_TEST(a_write_is_somebodys),
        TELLER_TEST(what_may_not_be_written_is_said),
        TELLER_TEST(one_replica_sends_the_event),
        TELLER_TEST(what_is_denied_is_counted_only),
        TELLER_TEST(a_drain_that_fails_is_in_the_log),
        TELLER_TEST(an_audit_log_that_cannot_be_had_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
