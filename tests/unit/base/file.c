/* Tests of base/file: whole files, limits, pipes, what cannot be read. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static char dir[] = "/tmp/slipway-file-XXXXXX";
static char path[64];

static void put(const void *bytes, size_t len) {
    unlink(path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state) {
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/f", dir);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void reads_all(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8191, 8192, 100000};
    char *bytes = xmalloc(100000);
    for (size_t i = 0; i < 100000; i++)
        bytes[i] = (char)(i * 31);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        put(bytes, sizes[i]);
        char *out;
        size_t len;
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(file_read(path, 100000, &out, &len, &err), 0);
        assert_int_equal(len, sizes[i]);
        assert_memory_equal(out, bytes, len);
        assert_int_equal(out[len], 0);
        free(out);
        if (sizes[i]) { /* one byte more than accepted */
            assert_int_equal(file_read(path, sizes[i] - 1, &out, &len, &err), -EFBIG);
            assert_non_null(strstr(err_msg(&err), "longer than the"));
            assert_int_equal(strncmp(err_msg(&err), path, strlen(path)), 0);
        }
    }
    free(bytes);
}

static void reads_a_pipe(void **state) {
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    char big[20000];
    memset(big, 'x', sizeof big);
    assert_int_equal(write(fds[1], big, sizeof big), sizeof big);
    close(fds[1]);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fds[0]);
    char *out;
    size_t len;
    assert_int_equal(file_read(name, 1 << 20, &out, &len, NULL), 0);
    assert_int_equal(len, sizeof big);
    free(out);
    close(fds[0]);
}

static void an_endless_file_ends(void **state) {
    (void)state;
    char *out;
    size_t len;
    assert_int_equal(file_read("/dev/zero", 1 << 20, &out, &len, NULL), -EFBIG);
}

/* Nobody writes to it; then somebody does, but does not close it. */
static void a_fifo_without_an_end(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    char *out = dir;
    size_t len;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(file_check(path, &err), 0);
    assert_int_equal(file_read_within(path, 10, MSEC(20), &out, &len, &err), -EINVAL);
    assert_true(str_ends(err_msg(&err), "/f: it is no regular file, and what writes to it did not "
                                        "come to its end within 20ms"));
    int fd = open(path, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abc", 3), 3);
    assert_int_equal(file_read_within(path, 10, MSEC(20), &out, &len, &err), -EINVAL);
    assert_ptr_equal(out, dir);
    close(fd);
    unlink(path);
}

/* As with a kubeconfig from <(...): the writer is slow to come, and slow to go on. */
static void a_fifo_with_a_slow_writer(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    char *out = NULL;
    size_t len;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        usleep(50000);
        int fd = open(path, O_WRONLY);
        bool ok = write(fd, "one ", 4) == 4;
        usleep(50000);
        ok = ok && write(fd, "two", 3) == 3;
        _exit(!ok);
    }
    assert_int_equal(file_read(path, 10, &out, &len, &err), 0);
    assert_string_equal(out, "one two");
    free(out);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    unlink(path);
}

static void refused(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    char *out = dir;
    size_t len;
    unlink(path);
    assert_int_equal(file_read(path, 10, &out, &len, &err), -ENOENT);
    assert_true(str_ends(err_msg(&err), "/f: No such file or directory"));
    assert_int_equal(file_check(path, &err), -ENOENT);
    assert_int_equal(file_read(dir, 10, &out, &len, &err), -EISDIR);
    assert_int_equal(file_check(dir, &err), -EISDIR);
    assert_true(str_ends(err_msg(&err), ": Is a directory"));
    assert_ptr_equal(out, dir);
    put("x", 1);
    assert_int_equal(file_check(path, &err), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(file_read(path, 10, &out, &len, &err), -EACCES);
        assert_int_equal(file_check(path, &err), -EACCES);
        assert_true(str_ends(err_msg(&err), ": Permission denied"));
    }
}

static void no_descriptor_is_left(void **state) {
    (void)state;
    int before = dup(0);
    close(before);
    char *out;
    size_t len;
    put("abc", 3);
    assert_int_equal(file_read(path, 10, &out, &len, NULL), 0);
    free(out);
    assert_int_equal(file_read(path, 2, &out, &len, NULL), -EFBIG);
    assert_int_equal(file_read(dir, 2, &out, &len, NULL), -EISDIR);
    assert_int_equal(file_check(path, NULL), 0);
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static size_t files_in_dir(void) {
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_file(const char *want) {
    _cleanup_free_ char *text = NULL;
    size_t len;
    assert_int_equal(file_read(path, 1 << 20, &text, &len, NULL), 0);
    assert_int_equal(len, strlen(want));
    assert_string_equal(text, want);
}

static void writes_all(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct stat st;
    unlink(path);
    mode_t mask = umask(027);
    assert_int_equal(file_write(path, "first\n", 6, &err), 0);
    umask(mask);
    assert_file("first\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(file_write(path, "2", 1, &err), 0); /* shorter: nothing of the old is left */
    assert_file("2");
    assert_int_equal(file_write(path, "", 0, &err), 0);
    assert_file("");
    char *bytes = xmalloc(300000);
    memset(bytes, 'y', 300000);
    bytes[0] = '\0'; /* not a string */
    assert_int_equal(file_write(path, bytes, 300000, &err), 0);
    free(bytes);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 300000);
    assert_int_equal(files_in_dir(), 1);
}

/* Whoever has opened the old one reads the old one, whole: the new one is another file. */
static void a_new_file_takes_the_place_of_the_old_one(void **state) {
    (void)state;
    struct stat before, after;
    char text[16] = "";
    put("old text", 8);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(file_write(path, "new", 3, NULL), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(fread(text, 1, sizeof text - 1, f), 8);
    assert_string_equal(text, "old text");
    fclose(f);
    assert_file("new");
}

static void what_is_no_regular_file_is_written_to(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    int fds[2];
    char name[32], got[8] = "";
    assert_int_equal(pipe(fds), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fds[1]);
    assert_int_equal(file_write(name, "abc", 3, &err), 0);
    assert_int_equal(read(fds[0], got, sizeof got - 1), 3);
    assert_string_equal(got, "abc");
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(file_write("/dev/null", "abc", 3, &err), 0);
    /* a full disk */
    assert_int_equal(file_write("/dev/full", "abc", 3, &err), -ENOSPC);
    assert_string_equal(err_msg(&err), "/dev/full: No space left on device");
}

/* A FIFO, a device and a link are not replaced. */
static void what_is_no_regular_file_stays_what_it_is(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct stat st;
    struct file_new f;
    char got[8] = "";
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(file_new_open(&f, path, 0600, MSEC(20), &err), -ENXIO);
    assert_true(str_ends(err_msg(&err), "/f: nobody reads from it"));
    file_new_done(&f);
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(file_write(path, "abc", 3, &err), 0);
    assert_int_equal(read(fd, got, sizeof got - 1), 3);
    assert_string_equal(got, "abc");
    /* what is taken back on the way does not get there */
    assert_int_equal(file_new_open(&f, path, 0600, MSEC(20), &err), 0);
    assert_int_equal(file_new_spool(&f, dir, &err), 0);
    assert_int_equal(write(f.fd, "xyz", 3), 3);
    assert_int_equal(ftruncate(f.fd, 1), 0);
    assert_int_equal(file_new_commit(&f, &err), 0);
    file_new_done(&f);
    assert_int_equal(read(fd, got, sizeof got - 1), 1);
    assert_int_equal(got[0], 'x');
    close(fd);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    unlink(path);
    if (geteuid() == 0 && !mknod(path, S_IFCHR | 0600, makedev(1, 3))) {
        (void)file_write(path, "abc", 3, &err); /* where devices are not obeyed that is an error */
        assert_int_equal(lstat(path, &st), 0);
        assert_true(S_ISCHR(st.st_mode));
        unlink(path);
    }
    assert_int_equal(files_in_dir(), 0);
}

static void a_link_stays_one(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *link = xasprintf("%s/link", dir), *second = xasprintf("%s/second", dir);
    struct stat st;
    unlink(path);
    assert_int_equal(symlink("second", link), 0);
    assert_int_equal(symlink(path, second), 0);
    static const char *const texts[] = {"made", "replaced"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(file_write(link, texts[i], strlen(texts[i]), &err), 0);
        assert_int_equal(lstat(link, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(lstat(path, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_file(texts[i]);
    }
    unlink(second);
    assert_int_equal(symlink("link", second), 0);
    assert_int_equal(file_write(link, "x", 1, &err), -ELOOP);
    unlink(link);
    unlink(second);
    assert_int_equal(files_in_dir(), 1);
}

/* `--out /dev/stdout >file`: what is written to both comes one after the other. */
static void a_descriptor_keeps_its_place(void **state) {
    (void)state;
    put("", 0);
    int fd = open(path, O_WRONLY);
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_int_equal(write(fd, "a", 1), 1);
    assert_int_equal(file_write(name, "b", 1, NULL), 0);
    assert_int_equal(write(fd, "c", 1), 1);
    close(fd);
    assert_file("abc");
}

static void what_cannot_be_written_leaves_nothing_behind(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    put("old", 3);
    _cleanup_free_ char *below = xasprintf("%s/none/f", dir), *under = xasprintf("%s/f", path);
    assert_int_equal(file_write(below, "x", 1, &err), -ENOENT);
    assert_true(str_ends(err_msg(&err), "/none/f: No such file or directory"));
    assert_int_equal(file_write(under, "x", 1, &err), -ENOTDIR);
    assert_true(file_write(dir, "x", 1, &err) < 0);
    assert_true(str_ends(err_msg(&err), ": Is a directory"));
    if (geteuid() != 0) {
        assert_int_equal(chmod(dir, 0500), 0);
        assert_int_equal(file_write(path, "x", 1, &err), -EACCES);
        assert_int_equal(chmod(dir, 0700), 0);
    }
    /* The disk is full in the middle of it: the limit stands for that. */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        char big[8192] = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        _exit(file_write(path, big, sizeof big, NULL) != -EFBIG);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_file("old");
    assert_int_equal(files_in_dir(), 1);
}

static void secrets(void **state) {
    (void)state;
    secret_free(NULL);
    _cleanup_secret_ char *s = xstrdup("key");
    secret_clear(&s);
    assert_null(s);
    s = xstrdup("again");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all),
        cmocka_unit_test(reads_a_pipe),
        cmocka_unit_test(an_endless_file_ends),
        cmocka_unit_test(a_fifo_without_an_end),
        cmocka_unit_test(a_fifo_with_a_slow_writer),
        cmocka_unit_test(refused),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(writes_all),
        cmocka_unit_test(a_new_file_takes_the_place_of_the_old_one),
        cmocka_unit_test(what_is_no_regular_file_is_written_to),
        cmocka_unit_test(what_is_no_regular_file_stays_what_it_is),
        cmocka_unit_test(a_link_stays_one),
        cmocka_unit_test(a_descriptor_keeps_its_place),
        cmocka_unit_test(what_cannot_be_written_leaves_nothing_behind),
        cmocka_unit_test(secrets),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
