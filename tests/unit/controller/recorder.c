/* Tests of src/controller/recorder.c: the files of a recording. What is in the lines is
 * controller/tape.c's. */
#include "controller/recorder.h"

#include "support/core_world.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct fixture {
    struct core_world w;
    struct loop *loop;
    struct recorder *r;
    struct log log;
    char dir[32];
    char *path, *before;
    bool checked; /* somebody reads what the checks go by */
    const char *why;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    cw_init(&f->w);
    f->loop = loop_new_virtual(SEC(1794729600));
    f->log = (struct log){.level = LOG_ERROR, .fd = -1};
    strcpy(f->dir, "/tmp/slipway-record-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->path = xasprintf("%s/record", f->dir);
    f->before = xasprintf("%s.1", f->path);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    recorder_free(f->r);
    unlink(f->path);
    unlink(f->before);
    rmdir(f->dir);
    free(f->path);
    free(f->before);
    loop_free(f->loop);
    cw_done(&f->w);
    free(f);
    return 0;
}

#define RECORDER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void retell(void *arg) {
    const struct fixture *f = arg;
    if (!f->checked)
        return;
    core_check_input(f->w.core, SOURCE_VMIS,
                     &(struct check_input){.read = READ_DONE, .why = f->why});
    core_checks_changed(f->w.core);
}

static int begin(struct fixture *f, int64_t max, struct err *err) {
    return recorder_new(f->w.core,
                        &(struct recorder_opts){.path = f->path,
                                                .max = max,
                                                .identity = "me",
                                                .ns = KW_NS,
                                                .seed = 7,
                                                .loop = f->loop,
                                                .log = &f->log,
                                                .retell = retell,
                                                .arg = f},
                        &f->r, err);
}

static char *text_of(const char *path) {
    char *text = NULL;
    size_t len;
    assert_int_equal(file_read(path, 1 << 24, &text, &len, NULL), 0);
    return text;
}

static void end(struct fixture *f) {
    recorder_free(f->r);
    f->r = NULL;
}

static void it_begins_with_what_is_known(void **state) {
    struct fixture *f = *state;
    struct stat st;
    core_lead(f->w.core, 3);
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    cw_step(&f->w);
    end(f);
    _cleanup_free_ char *text = text_of(f->path);
    assert_true(str_starts(text, "{\"in\":\"begin\",\"format\":\"slipway.record/1.3\""));
    assert_non_null(strstr(text, "{\"in\":\"put\",\"kind\":\"nodes\",\"object\":"));
    assert_non_null(strstr(text, "{\"in\":\"lead\",\"fence\":3}\n{\"in\":\"look\"}\n{\"in\":"));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(access(f->before, F_OK) < 0);
}

#define READ_LINES                                                                                 \
    "{\"in\":\"read\",\"outcome\":\"done\",\"source\":\"kubevirt-machines\"}\n"                    \
    "{\"in\":\"checks\"}\n{\"in\":\"ready\"}\n"

/* Each file, and before anything is decided. */
static void what_the_checks_go_by_is_known(void **state) {
    struct fixture *f = *state;
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    cw_step(&f->w);
    f->checked = true;
    core_restart(f->w.core);
    cw_step(&f->w);
    core_restart(f->w.core);
    cw_step(&f->w);
    end(f);
    _cleanup_free_ char *old = text_of(f->before), *text = text_of(f->path);
    assert_non_null(strstr(old, READ_LINES));
    assert_non_null(strstr(text, READ_LINES));
    assert_true(strstr(text, READ_LINES) < strstr(text, "{\"in\":\"look\"}"));
    f->checked = true; /* also when it was read before */
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    end(f);
    _cleanup_free_ char *next = text_of(f->path);
    assert_non_null(strstr(next, READ_LINES));
}

#define BLIND_LINE "{\"in\":\"blind\",\"text\":\"nodes cannot be watched\"}\n"

/* As long as the picture is old, each file says so before anything is decided. */
static void that_the_picture_is_old_is_known(void **state) {
    struct fixture *f = *state;
    core_blind(f->w.core, "nodes cannot be watched");
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    cw_step(&f->w);
    core_restart(f->w.core);
    cw_step(&f->w);
    core_blind(f->w.core, NULL);
    core_restart(f->w.core);
    cw_step(&f->w);
    end(f);
    _cleanup_free_ char *text = text_of(f->path);
    _cleanup_free_ char *old = text_of(f->before);
    assert_non_null(strstr(old, BLIND_LINE));
    assert_true(strstr(old, BLIND_LINE) < strstr(old, "{\"in\":\"step\""));
    assert_true(strstr(old, BLIND_LINE) < strstr(old, "{\"in\":\"blind\"}\n"));
    assert_null(strstr(text, "blind"));
}

static void it_is_written_now_and_then(void **state) {
    struct fixture *f = *state;
    struct stat st;
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_size, 0);
    loop_advance(f->loop, SEC(1));
    assert_int_equal(stat(f->path, &st), 0);
    assert_true(st.st_size > 0);
}

/* What the last one has seen before it was killed is what somebody wants to know. */
static void what_was_there_is_kept(void **state) {
    struct fixture *f = *state;
    assert_int_equal(file_write(f->path, "old", 3, NULL), 0);
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    _cleanup_free_ char *old = text_of(f->before);
    assert_string_equal(old, "old");
}

static void a_link_stays_one(void **state) {
    struct fixture *f = *state;
    struct stat st;
    char *path = f->path, *link = xasprintf("%s/link", f->dir);
    assert_int_equal(file_write(path, "old", 3, NULL), 0);
    assert_int_equal(symlink("record", link), 0);
    f->path = link;
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    end(f);
    f->path = path;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(link);
    free(link);
    _cleanup_free_ char *text = text_of(f->before);
    assert_string_equal(text, "old");
}

static void it_does_not_grow_without_end(void **state) {
    enum { MAX = 64 << 10 };
    struct fixture *f = *state;
    struct stat st;
    unsigned restarts = 0;
    assert_int_equal(begin(f, MAX, NULL), 0);
    for (int i = 0; i < 500; i++) {
        cw_node(&f->w, "w0"); /* a new version */
        cw_pass(&f->w, SEC(1));
        if (recorder_wants_restart(f->r)) {
            core_restart(f->w.core);
            restarts++;
        }
    }
    end(f);
    assert_true(restarts > 2);
    assert_int_equal(stat(f->path, &st), 0);
    assert_true(st.st_size <= MAX / 2 + 4096);
    assert_int_equal(stat(f->before, &st), 0);
    assert_true(st.st_size <= MAX / 2 + 4096);
    _cleanup_free_ char *text = text_of(f->path);
    assert_true(str_starts(text, "{\"in\":\"begin\""));
    assert_non_null(strstr(text, "{\"in\":\"put\",\"kind\":\"nodes\",\"object\":"));
}

/* However much that is: a core that is restarted again and again gets nothing done. */
static void what_the_checks_go_by_is_no_reason_to_restart(void **state) {
    enum { MAX = 64 << 10 };
    struct fixture *f = *state;
    char why[MAX];
    memset(why, 'x', sizeof why - 1);
    why[sizeof why - 1] = '\0';
    f->checked = true;
    f->why = why;
    assert_int_equal(begin(f, MAX, NULL), 0);
    assert_false(recorder_wants_restart(f->r));
    core_restart(f->w.core);
    cw_step(&f->w);
    assert_false(recorder_wants_restart(f->r));
}

/* Nor is what it does after a restart, as much as that may be. */
static void a_restart_is_no_reason_for_the_next_one(void **state) {
    struct fixture *f = *state;
    assert_int_equal(begin(f, 1, NULL), 0);
    for (int i = 0; i < 8; i++)
        cw_node(&f->w, "w0"); /* more than twice what was there */
    cw_step(&f->w);
    assert_false(recorder_wants_restart(f->r));
    loop_advance(f->loop, SEC(10));
    assert_true(recorder_wants_restart(f->r));
    core_restart(f->w.core);
    cw_step(&f->w);
    for (int i = 0; i < 100; i++) /* but it does not grow without end meanwhile */
        cw_node(&f->w, "w0");
    assert_true(recorder_wants_restart(f->r));
}

/* As with a full disk. */
static void what_cannot_be_written_ends_it(void **state) {
    struct fixture *f = *state;
    struct rlimit old, none;
    assert_int_equal(begin(f, 1 << 20, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    loop_advance(f->loop, SEC(1));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    cw_step(&f->w); /* nobody listens any more */
    assert_false(recorder_wants_restart(f->r));
    end(f);
    _cleanup_free_ char *text = text_of(f->path);
    assert_string_equal(text, "");
}

static void what_is_no_file_is_refused(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    str_replace(&f->path, "/dev/null");
    assert_int_equal(begin(f, 1 << 20, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "/dev/null: is no regular file");
    free(f->path);
    f->path = xasprintf("%s/nowhere/record", f->dir);
    assert_int_equal(begin(f, 1 << 20, NULL), -ENOENT);
    assert_false(recorder_wants_restart(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RECORDER_TEST(it_begins_with_what_is_known),
        RECORDER_TEST(what_the_checks_go_by_is_known),
        RECORDER_TEST(what_the_checks_go_by_is_no_reason_to_restart),
        RECORDER_TEST(a_restart_is_no_reason_for_the_next_one),
        RECORDER_TEST(that_the_picture_is_old_is_known),
        RECORDER_TEST(it_is_written_now_and_then),
        RECORDER_TEST(what_was_there_is_kept),
        RECORDER_TEST(it_does_not_grow_without_end),
        RECORDER_TEST(what_cannot_be_written_ends_it),
        RECORDER_TEST(what_is_no_file_is_refused),
        RECORDER_TEST(a_link_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
