/* Tests of src/controller/tape.c: lines of a recording, written and read. */
#include "support/core_world.h"

#include <errno.h>

#include "controller/tape.h"

struct fixture {
    struct pool *pool;
    struct codec codec;
    struct str out;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    codec_init(&f->codec, f->pool);
    f->out = STR_INIT;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    str_done(&f->out);
    codec_done(&f->codec);
    assert_int_equal(pool_stats(f->pool).entries, 0);
    pool_free(f->pool);
    free(f);
    return 0;
}

#define TAPE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static int read_text(struct fixture *f, const char *text, struct tape_read *out, struct err *err) {
    *out = (struct tape_read){0};
    return tape_read(&f->codec, view_of(text), out, err);
}

static void assert_line(struct fixture *f, const struct core_event *e, const char *want) {
    struct tape_read line = {0};
    _cleanup_str_ struct str again = STR_INIT;
    str_reset(&f->out);
    tape_write(&f->out, e);
    assert_string_equal(str_get(&f->out), want);
    assert_int_equal(tape_read(&f->codec, view_of(str_get(&f->out)), &line, NULL), 0);
    assert_int_equal(line.what, e->what);
    tape_print(&again, &line.line);
    assert_string_equal(str_get(&again), want);
    tape_release(&f->codec, &line);
}

static void what_comes_in(void **state) {
    struct fixture *f = *state;
    struct store *s = store_new(&kind_node, f->pool);
    struct store_change wrote = {.op = STORE_WROTE, .name = "w0", .version = "7"};
    const struct answer answer = {
        .outcome = KUBE_CONFLICT, .code = 409, .message = "no", .retry_after = 3, .date = 5};
    assert_line(f, &(struct core_event){.what = CORE_STEP, .now = {1, 2}},
                "{\"in\":\"step\",\"mono\":1,\"wall\":2}\n");
    assert_line(f, &(struct core_event){.what = CORE_LEAD, .fence = 4},
                "{\"in\":\"lead\",\"fence\":4}\n");
    assert_line(
        f, &(struct core_event){.what = CORE_ASK, .id = 9, .name = "w0", .question = KEEPER_STEADY},
        "{\"in\":\"ask\",\"id\":9,\"name\":\"w0\",\"question\":\"steady-state\"}\n");
    assert_line(f, &(struct core_event){.what = CORE_STORE, .store = s, .change = &wrote},
                "{\"in\":\"wrote\",\"kind\":\"nodes\",\"name\":\"w0\",\"version\":\"7\"}\n");
    assert_line(f, &(struct core_event){.what = CORE_ANSWER, .id = 2, .answer = &answer},
                "{\"in\":\"answer\",\"id\":2,\"outcome\":\"Conflict\",\"code\":409,\"message\":"
                "\"no\",\"retryAfter\":3,\"date\":5}\n");
    store_free(s);
}

/* Somebody between us and the server may have printed it anew. */
static void an_object_of_several_lines_is_one(void **state) {
    struct fixture *f = *state;
    struct store *s = store_new(&kind_ceph_cluster, f->pool);
    struct object *obj = object_new(&kind_ceph_cluster);
    const char *text = "{\"metadata\":{\"name\":\"c\"},\"status\":{\"ceph\":{\"details\":"
                       "{\n  \"A\": {\n  }\n}}}}";
    assert_int_equal(codec_json(&f->codec, kind_ceph_cluster.type, view_of(text), obj, NULL), 0);
    tape_write(&f->out,
               &(struct core_event){.what = CORE_CHECK_STORE,
                                    .source = SOURCE_CEPH_CLUSTERS,
                                    .store = s,
                                    .change = &(struct store_change){.op = STORE_PUT, .obj = obj}});
    assert_ptr_equal(strchr(str_get(&f->out), '\n'), str_get(&f->out) + f->out.len - 1);
    assert_non_null(strstr(str_get(&f->out), "\"details\":{   \"A\": {   } }"));
    object_free(&kind_ceph_cluster, f->pool, obj);
    store_free(s);
}

/* By a word: the numbers are another build's. */
static void what_the_checks_go_by(void **state) {
    struct fixture *f = *state;
    struct store *s = store_new(&kind_pod, f->pool);
    struct store_change gone = {.op = STORE_REMOVE, .ns = "a", .name = "p", .version = "7"};
    struct check_input failed = {.read = READ_FAILED, .why = "forbidden"},
                       done = {.read = READ_DONE, .store = s};
    assert_line(
        f,
        &(struct core_event){
            .what = CORE_CHECK_STORE, .source = SOURCE_CEPH_PODS, .store = s, .change = &gone},
        "{\"in\":\"remove\",\"kind\":\"pods\",\"namespace\":\"a\",\"name\":\"p\","
        "\"version\":\"7\",\"source\":\"ceph-pods\"}\n");
    assert_line(
        f, &(struct core_event){.what = CORE_CHECK_INPUT, .source = SOURCE_VMIS, .input = &failed},
        "{\"in\":\"read\",\"outcome\":\"failed\",\"message\":\"forbidden\",\"source\":"
        "\"kubevirt-machines\"}\n");
    assert_line(
        f, &(struct core_event){.what = CORE_CHECK_INPUT, .source = SOURCE_VMIS, .input = &done},
        "{\"in\":\"read\",\"outcome\":\"done\",\"source\":\"kubevirt-machines\"}\n");
    store_free(s);
    for (int i = 0; i < CHECK_SOURCES; i++) /* each has one of its own */
        assert_int_equal(tape_check_source(check_sources[i].word), i);
    assert_int_equal(tape_check_source(NULL), -1);
    assert_int_equal(tape_check_source("secrets"), -1);
    assert_int_equal(tape_check_read("failed"), READ_FAILED);
    assert_int_equal(tape_check_read("maybe"), -1);
}

static void what_comes_of_it(void **state) {
    struct fixture *f = *state;
    const struct keeper_note note = {.policy = "p",
                                     .node = "w0",
                                     .reason = "SlotTaken",
                                     .text = "holds a slot",
                                     .moves = true,
                                     .from = MAINT_QUEUED,
                                     .to = MAINT_DRAINING};
    const struct keeper_reply reply = {3, KEEPER_FULL, "others"};
    const struct action action = {.id = 1,
                                  .verb = ACTION_PATCH,
                                  .kind = &kind_node,
                                  .name = "w0",
                                  .grace = -1,
                                  .body = "{\"a\":1}"};
    assert_line(f, &(struct core_event){.what = CORE_NOTE, .note = &note},
                "{\"out\":\"note\",\"policy\":\"p\",\"node\":\"w0\",\"from\":\"Queued\",\"to\":"
                "\"Draining\",\"reason\":\"SlotTaken\",\"text\":\"holds a slot\"}\n");
    assert_line(f, &(struct core_event){.what = CORE_REPLY, .reply = &reply},
                "{\"out\":\"reply\",\"id\":3,\"reason\":\"full\",\"text\":\"others\"}\n");
    assert_line(f, &(struct core_event){.what = CORE_ACTION, .action = &action},
                "{\"out\":\"action\",\"id\":1,\"verb\":\"patch\",\"kind\":\"nodes\",\"name\":"
                "\"w0\",\"grace\":-1,\"body\":\"{\\\"a\\\":1}\"}\n");
    assert_line(f, &(struct core_event){.what = CORE_WATCHED, .name = "w0", .yes = true},
                "{\"out\":\"watched\",\"name\":\"w0\",\"yes\":true}\n");
}

static void the_beginning(void **state) {
    struct fixture *f = *state;
    struct tape_read line;
    struct tape_head head;
    tape_write_head(&f->out, &(struct tape_head){.build = "b",
                                                 .identity = "me",
                                                 .ns = "default",
                                                 .seed = UINT64_MAX - 1,
                                                 .no_commands = true,
                                                 .rate = 0.1,
                                                 .actions = 12});
    assert_int_equal(read_text(f, str_get(&f->out), &line, NULL), 0);
    assert_int_equal(tape_head(&line, &head, NULL), 0);
    assert_int_equal(head.seed, UINT64_MAX - 1);
    assert_int_equal(head.actions, 12);
    assert_true(head.no_commands && !head.no_hooks);
    assert_true(head.rate == 0.1);
    assert_string_equal(head.identity, "me");
    assert_false(head.unchecked);
    tape_release(&f->codec, &line);
}

static void the_beginning_of_an_older_one(void **state) {
    struct fixture *f = *state;
    struct tape_read line;
    struct tape_head head;
    assert_int_equal(
        read_text(f, "{\"in\":\"begin\",\"format\":\"slipway.record/1.0\",\"seed\":\"1\"}", &line,
                  NULL),
        0);
    assert_int_equal(tape_head(&line, &head, NULL), 0);
    assert_true(head.unchecked);
    tape_release(&f->codec, &line);
    assert_int_equal(
        read_text(f, "{\"in\":\"begin\",\"format\":\"slipway.record/1.1\",\"seed\":\"1\"}", &line,
                  NULL),
        0);
    assert_int_equal(tape_head(&line, &head, NULL), 0);
    assert_false(head.unchecked);
    tape_release(&f->codec, &line);
}

static void what_is_no_beginning(void **state) {
    static const char *const texts[] = {
        "{\"in\":\"step\"}",
        "{\"in\":\"begin\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/9.0\",\"seed\":\"1\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/1.4\",\"seed\":\"1\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/1.0\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/1.0\",\"seed\":\"xyz\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/1.0\",\"seed\":\"1\",\"actions\":-1}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/"
        "1.3\",\"seed\":\"1\",\"evictionRate\":\"-1\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/"
        "1.3\",\"seed\":\"1\",\"evictionRate\":\"2x\"}",
        "{\"in\":\"begin\",\"format\":\"slipway.record/"
        "1.3\",\"seed\":\"1\",\"evictionRate\":\"nan\"}",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tape_read line;
        struct tape_head head;
        assert_int_equal(read_text(f, texts[i], &line, NULL), 0);
        assert_int_equal(tape_head(&line, &head, NULL), -EINVAL);
        tape_release(&f->codec, &line);
    }
}

static void what_is_no_line(void **state) {
    static const char *const texts[] = {
        "",
        "x",
        "[]",
        "{}",
        "null",
        "{\"in\":\"note\"}", /* it is no input */
        "{\"in\":",
        "\"\"",
        "{\"out\":\"step\"}",
        "{\"in\":\"what\"}",
        "{\"in\":1}",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tape_read line;
        _cleanup_err_ struct err err = ERR_INIT;
        assert_true(read_text(f, texts[i], &line, &err) < 0);
        assert_true(err.code != 0);
    }
    assert_int_equal(tape_question("never"), -1);
    assert_int_equal(tape_outcome("Never"), -1);
    assert_int_equal(tape_outcome(NULL), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TAPE_TEST(what_comes_in),         TAPE_TEST(an_object_of_several_lines_is_one),
        TAPE_TEST(what_the_checks_go_by), TAPE_TEST(what_comes_of_it),
        TAPE_TEST(the_beginning),         TAPE_TEST(the_beginning_of_an_older_one),
        TAPE_TEST(what_is_no_beginning),  TAPE_TEST(what_is_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
