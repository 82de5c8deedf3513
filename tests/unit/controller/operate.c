/* Tests of src/controller/operate.c: who carries an operation out, and how it ends. */
#include "controller/operate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/keeper_world.h"
#include "support/script_transport.h"
#include "support/server.h"

struct fixture {
    struct loop *loop;
    struct pool *pool;
    struct script *script;
    struct kube_client client;
    struct log log;
    struct operators *o;
    int code; /* of the server's answers */
    unsigned ends;
    char *name, *failure;
};

static void on_ended(void *arg, const char *maintenance, const char *failure) {
    struct fixture *f = arg;
    f->ends++;
    str_replace(&f->name, maintenance);
    mem_clear(&f->failure);
    f->failure = failure ? xstrdup(failure) : NULL;
    loop_stop(f->loop);
}

static void on_request(void *arg, struct script_call *call) {
    const struct fixture *f = arg;
    script_reply(call, f->code, "application/json",
                 f->code == 200 ? "{\"kind\":\"Node\",\"apiVersion\":\"v1\","
                                  "\"metadata\":{\"name\":\"w1\",\"resourceVersion\":\"7\"}}"
                                : "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
                                  "\"Failure\",\"message\":\"the test says no\",\"reason\":"
                                  "\"Forbidden\",\"code\":403}");
}

static void begin(struct fixture *f, bool commands) {
    f->code = 200;
    f->pool = pool_new(type_drop);
    f->script = script_new(f->loop, on_request, f);
    f->client = (struct kube_client){
        .transport = script_transport(f->script), .loop = f->loop, .pool = f->pool, .log = &f->log};
    f->o = operators_new(
        &f->client,
        &(struct operators_opts){
            .commands = commands, .hooks = commands, .log = &f->log, .ended = on_ended, .arg = f});
}

static int setup(void **state) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct fixture *f = xnew(struct fixture);
    assert_int_equal(loop_new(&f->loop, &err), 0);
    begin(f, true);
    *state = f;
    return 0;
}

static int setup_virtual(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->loop = loop_new_virtual(0);
    begin(f, false);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    operators_free(f->o);
    kube_transport_free(f->client.transport);
    loop_free(f->loop);
    pool_free(f->pool);
    free(f->name);
    free(f->failure);
    free(f);
    return 0;
}

#define REAL_TEST(f)    cmocka_unit_test_setup_teardown(f, setup, teardown)
#define VIRTUAL_TEST(f) cmocka_unit_test_setup_teardown(f, setup_virtual, teardown)

/* Of node w1; `executor` is JSON. */
static void start(struct fixture *f, const char *operation, const char *executor) {
    _cleanup_free_ char *text =
        xasprintf("{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"node\":\"w1\","
                  "\"operation\":\"%s\",\"executor\":%s},\"status\":{\"bootBefore\":\"boot-1\"}}",
                  operation, executor);
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    struct object *m = kw_decode(f->pool, &kind_maintenance, doc);
    json_decref(doc);
    operators_begin(f->o, (const struct maintenance *)m);
    object_free(&kind_maintenance, f->pool, m); /* it is not needed any longer */
    assert_int_equal(f->ends, 0);               /* from the loop, never at once */
}

#define SHELL(script) "{\"exec\":{\"command\":[\"/bin/sh\",\"-c\",\"" script "\"]}}"

/* Until it has ended; the name is the one that was given. */
static const char *end_of(struct fixture *f) {
    loop_run(f->loop);
    assert_int_equal(f->ends, 1);
    assert_string_equal(f->name, "m1");
    return f->failure;
}

/* --- commands --- */

static void a_command_that_ends_well(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("exit 0"));
    assert_null(end_of(f));
    assert_int_equal(script_len(f->script), 0);
}

static void it_knows_what_it_is_about(void **state) {
    struct fixture *f = *state;
    start(f, "Shutdown",
          SHELL("echo $SLIPWAY_NODE $SLIPWAY_OPERATION $SLIPWAY_MAINTENANCE >&2; exit 1"));
    assert_string_equal(end_of(f), "the command has ended with status 1: w1 Shutdown m1");
}

/* An empty one is an argument, too. */
static void it_gets_every_argument(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot",
          "{\"exec\":{\"command\":[\"/bin/sh\",\"-c\",\"echo $# [$1] [$2] >&2; exit 1\","
          "\"sh\",\"\",\"b\"]}}");
    assert_string_equal(end_of(f), "the command has ended with status 1: 2 [] [b]");
}

static void a_command_that_fails_says_why(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("echo the plug does not answer >&2; exit 3"));
    assert_string_equal(end_of(f), "the command has ended with status 3: the plug does not answer");
}

static void a_command_that_fails_and_says_nothing(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("exit 3"));
    assert_string_equal(end_of(f), "the command has ended with status 3");
}

/* It goes into the status of an object, on one line. */
static void what_it_says_is_made_fit_to_be_shown(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("echo one >&2; printf 'two\\\\033[31m\\\\377' >&2; exit 1"));
    const char *failure = end_of(f);
    assert_non_null(strstr(failure, "two"));
    assert_null(strpbrk(failure, "\n\033\377"));
}

static void what_it_says_is_cut(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("head -c 60000 /dev/zero | tr '\\\\0' x >&2; exit 1"));
    const char *failure = end_of(f);
    assert_non_null(strstr(failure, "status 1: xxx"));
    assert_true(strlen(failure) < 1000);
}

static void a_command_that_is_killed(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("kill -TERM $$"));
    assert_string_equal(end_of(f), "the command was ended by signal 15");
}

/* It is in the middle of its work. */
static void a_command_that_prints_much_is_not_killed(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot",
          SHELL("head -c 1000000 /dev/zero || exit 1; head -c 1000000 /dev/zero >&2 || exit 2; "
                "exit 3"));
    assert_string_equal(end_of(f), "the command has ended with status 3");
}

static void a_command_that_prints_much_ends_well(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("head -c 1000000 /dev/zero && exit 0; exit 1"));
    assert_null(end_of(f));
}

static void a_program_that_is_not_there(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{\"exec\":{\"command\":[\"/nowhere/reboot-it\"]}}");
    assert_non_null(strstr(end_of(f), "/nowhere/reboot-it"));
}

static void no_command_at_all(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{\"exec\":{\"command\":[]}}");
    assert_string_equal(end_of(f), "the command is empty");
}

/* It is killed, and its end tells nobody any more. */
static void one_that_runs_when_it_is_over(void **state) {
    struct fixture *f = *state;
    char dir[] = "/tmp/operate-XXXXXX", byte;
    assert_non_null(mkdtemp(dir));
    _cleanup_free_ char *fifo = xasprintf("%s/fifo", dir),
                        *executor = xasprintf(SHELL("exec sleep 1000 2>%s"), fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    start(f, "Reboot", executor);
    int fd = open(fifo, O_RDONLY | O_CLOEXEC); /* it runs */
    assert_true(fd >= 0);
    operators_free(f->o);
    f->o = NULL;
    assert_int_equal(read(fd, &byte, 1), 0); /* it does not */
    close(fd);
    loop_run(f->loop); /* nothing is left to wait for */
    assert_int_equal(f->ends, 0);
    unlink(fifo);
    rmdir(dir);
}

/* --- services --- */

static void serve(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    server_reply(c, arg ? 503 : 202, NULL, arg ? "the plug does not answer\n" : "");
}

static struct server *ask_service(struct fixture *f, bool refuses) {
    struct server *server =
        server_start(&(struct server_options){.handle = serve, .arg = refuses ? f : NULL});
    _cleanup_free_ char *url = server_url(server, NULL),
                        *executor = xasprintf("{\"http\":{\"url\":\"%s/reboot\"}}", url);
    start(f, "Reboot", executor);
    (void)end_of(f);
    return server;
}

static void a_service_is_told_what_it_is_about(void **state) {
    struct fixture *f = *state;
    struct server *server = ask_service(f, false);
    const struct server_request *req = server_request(server, 0);
    assert_null(f->failure);
    assert_string_equal(req->path, "/reboot");
    assert_string_equal(req->body,
                        "{\"node\":\"w1\",\"operation\":\"Reboot\",\"maintenance\":\"m1\","
                        "\"boot\":\"boot-1\"}");
    server_stop(server);
}

static void a_service_that_refuses_says_why(void **state) {
    struct fixture *f = *state;
    struct server *server = ask_service(f, true);
    assert_string_equal(f->failure, "the hook has answered 503: the plug does not answer");
    server_stop(server);
}

static void services_have_to_be_allowed(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{\"http\":{\"url\":\"http://127.0.0.1:1/\"}}");
    assert_non_null(strstr(end_of(f), "--allow-hooks"));
}

/* --- others --- */

static void commands_that_are_not_allowed(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", SHELL("exit 0"));
    assert_string_equal(end_of(f), "commands are not allowed: the controller was begun without "
                                   "--allow-commands");
}

static void nobody_is_there(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{}");
    assert_string_equal(end_of(f), "nobody is there who could do that: spec.executor names nobody");
}

/* What operators_refuse() says of a Maintenance, of a node with that annotation; "": nothing. */
static const char *refusal(struct fixture *f, const char *spec, const char *annotation) {
    _cleanup_free_ char *text = xasprintf("{\"metadata\":{\"name\":\"m1\"},\"spec\":{%s}}", spec),
                        *there = xasprintf(
                            "{\"metadata\":{\"name\":\"w1\",\"annotations\":{\"%s\":\"\"}}}",
                            annotation);
    json_t *doc = json_loads(text, 0, NULL), *node_doc = json_loads(there, 0, NULL);
    assert_non_null(doc);
    struct object *m = kw_decode(f->pool, &kind_maintenance, doc),
                  *node = kw_decode(f->pool, &kind_node, node_doc);
    json_decref(doc);
    json_decref(node_doc);
    const char *why =
        operators_refuse(true, true, (const struct maintenance *)m, (const struct node *)node);
    object_free(&kind_maintenance, f->pool, m);
    object_free(&kind_node, f->pool, node);
    return strna(why);
}

#define REBOOT_BY(executor) "\"operation\":\"Reboot\",\"executor\":{" executor "}"

/* Before anybody is drained for nothing. */
static void what_nobody_could_do_is_refused(void **state) {
    struct fixture *f = *state;
    assert_string_equal(refusal(f, "\"operation\":\"Drain\"", "a"), "");
    assert_non_null(strstr(refusal(f, "\"operation\":\"Reboot\"", "a"), "names nobody"));
    assert_non_null(strstr(refusal(f, "\"operation\":\"Shutdown\"", "a"), "names nobody"));
    assert_non_null(strstr(refusal(f, REBOOT_BY(""), "a"), "names nobody"));
    assert_non_null(
        strstr(refusal(f, REBOOT_BY("\"sim\":{},\"fleetlock\":{}"), SIM_MACHINE), "several"));
    assert_string_equal(refusal(f, REBOOT_BY("\"fleetlock\":{}"), "a"), "");
    assert_non_null(
        strstr(refusal(f, "\"operation\":\"Shutdown\",\"executor\":{\"fleetlock\":{}}", "a"),
               "FleetLock"));
    assert_non_null(
        strstr(refusal(f, REBOOT_BY("\"sim\":{}"), "a"), "no machine of the simulator"));
    assert_string_equal(refusal(f, REBOOT_BY("\"sim\":{}"), SIM_MACHINE), "");
}

static void what_is_not_begun_when_it_is_over(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{}");
    operators_free(f->o);
    f->o = NULL;
    loop_run(f->loop);
    assert_int_equal(f->ends, 0);
}

static void the_machine_of_the_simulator(void **state) {
    static const char *const words[][2] = {{"Reboot", "reboot"}, {"Shutdown", "off"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        _cleanup_free_ char *wanted = xasprintf(
            "[{\"op\":\"test\",\"path\":\"/status/nodeInfo/bootID\",\"value\":\"boot-1\"},{\"op\":"
            "\"add\",\"path\":\"/metadata/annotations/sim.slipway.dev~1do\",\"value\":\"%s\"}]",
            words[i][1]);
        f->ends = 0;
        start(f, words[i][0], "{\"sim\":{}}");
        assert_null(end_of(f));
        assert_string_equal(script_last(f->script)->method, "PATCH");
        assert_string_equal(script_last(f->script)->path, "/api/v1/nodes/w1?fieldManager=slipway");
        assert_string_equal(script_last(f->script)->body, wanted);
    }
}

static void a_machine_that_cannot_be_asked(void **state) {
    struct fixture *f = *state;
    f->code = 403;
    start(f, "Reboot", "{\"sim\":{}}");
    assert_non_null(strstr(end_of(f), "the test says no"));
}

static void a_machine_that_is_being_asked_when_it_is_over(void **state) {
    struct fixture *f = *state;
    start(f, "Reboot", "{\"sim\":{}}");
    operators_free(f->o);
    f->o = NULL;
    loop_run(f->loop);
    assert_int_equal(f->ends, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REAL_TEST(a_command_that_ends_well),
        REAL_TEST(a_service_is_told_what_it_is_about),
        REAL_TEST(a_service_that_refuses_says_why),
        VIRTUAL_TEST(services_have_to_be_allowed),
        REAL_TEST(it_knows_what_it_is_about),
        REAL_TEST(it_gets_every_argument),
        REAL_TEST(a_command_that_fails_says_why),
        REAL_TEST(a_command_that_fails_and_says_nothing),
        REAL_TEST(what_it_says_is_made_fit_to_be_shown),
        REAL_TEST(what_it_says_is_cut),
        REAL_TEST(a_command_that_is_killed),
        REAL_TEST(a_command_that_prints_much_is_not_killed),
        REAL_TEST(a_command_that_prints_much_ends_well),
        REAL_TEST(a_program_that_is_not_there),
        REAL_TEST(no_command_at_all),
        REAL_TEST(one_that_runs_when_it_is_over),
        VIRTUAL_TEST(commands_that_are_not_allowed),
        VIRTUAL_TEST(nobody_is_there),
        VIRTUAL_TEST(what_nobody_could_do_is_refused),
        VIRTUAL_TEST(what_is_not_begun_when_it_is_over),
        VIRTUAL_TEST(the_machine_of_the_simulator),
        VIRTUAL_TEST(a_machine_that_cannot_be_asked),
        VIRTUAL_TEST(a_machine_that_is_being_asked_when_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
