/* Tests of src/net/server_crowd.c: who gives way. */
#include "net/server_crowd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct one {
    struct crowd_member m;
    bool busy;
};

static bool could(const struct crowd_member *m) {
    return !((const struct one *)m)->busy;
}

static void the_largest_gives_way_its_oldest_first(void **state) {
    struct crowd c;
    struct one a[3] = {0}, b[2] = {0};
    (void)state;
    crowd_init(&c);
    assert_null(crowd_pick(&c, could));
    crowd_join(&c, &b[0].m, "10.0.0.2:1");
    crowd_join(&c, &a[0].m, "10.0.0.1:1");
    crowd_join(&c, &a[1].m, "10.0.0.1:2");
    crowd_join(&c, &a[2].m, "10.0.0.1:3");
    crowd_join(&c, &b[1].m, "10.0.0.2:2");
    assert_ptr_equal(crowd_pick(&c, could), &a[0].m);
    a[0].busy = true;
    assert_ptr_equal(crowd_pick(&c, could), &a[1].m);
    crowd_leave(&c, &a[1].m);
    crowd_leave(&c, &a[2].m);
    assert_ptr_equal(crowd_pick(&c, could), &b[0].m);
    b[0].busy = b[1].busy = true;
    assert_null(crowd_pick(&c, could));
    crowd_leave(&c, &a[0].m);
    crowd_leave(&c, &b[0].m);
    crowd_leave(&c, &b[1].m);
    crowd_done(&c);
}

/* One whose connections are all being answered is passed over. */
static void those_that_cannot_go_are_passed_over(void **state) {
    struct crowd c;
    struct one a[2] = {{.busy = true}, {.busy = true}}, b = {0};
    (void)state;
    crowd_init(&c);
    crowd_join(&c, &a[0].m, "[::1]:1");
    crowd_join(&c, &a[1].m, "[::1]:22");
    crowd_join(&c, &b.m, "[::2]:1");
    assert_ptr_equal(crowd_pick(&c, could), &b.m);
    crowd_leave(&c, &a[0].m);
    crowd_leave(&c, &a[1].m);
    crowd_leave(&c, &b.m);
    assert_int_equal(c.groups.len, 0);
    crowd_done(&c);
}

/* Sockets without a name are one address. */
static void those_without_a_name(void **state) {
    struct crowd c;
    struct one a[2] = {0};
    (void)state;
    crowd_init(&c);
    crowd_join(&c, &a[0].m, "");
    crowd_join(&c, &a[1].m, "");
    assert_int_equal(c.groups.len, 1);
    crowd_leave(&c, &a[0].m);
    assert_ptr_equal(crowd_pick(&c, could), &a[1].m);
    crowd_leave(&c, &a[1].m);
    crowd_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_gives_way_its_oldest_first),
        cmocka_unit_test(those_that_cannot_go_are_passed_over),
        cmocka_unit_test(those_without_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
