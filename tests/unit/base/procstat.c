/* Tests of base/procstat.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/procstat.h"

static void of_this_process(void **state) {
    struct procstat a, b;
    (void)state;
    procstat_read(&a);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    procstat_read(&b);
    close(fd);
    assert_int_equal(b.fds, a.fds + 1);
    assert_true(a.max_fds > a.fds);
    assert_true(a.memory > 4096 && a.memory < INT64_C(1) << 40);
    assert_true(a.cpu >= 0 && b.cpu >= a.cpu);
    /* It began before now, and not long ago. */
    assert_true(a.start <= (double)time(NULL) + 1 && a.start > (double)time(NULL) - 86400);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_this_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
