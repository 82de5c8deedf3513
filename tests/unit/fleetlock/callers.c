/* Tests of src/fleetlock/callers.c. */
#include "fleetlock/callers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "support/world.h"

enum { RATE = 600, MANY = 100000 };

static unsigned admitted(struct callers *c, const char *peer, const char *id, int64_t now,
                         unsigned tries) {
    unsigned n = 0;
    for (unsigned i = 0; i < tries; i++)
        n += callers_admit(c, peer, id, RATE, now);
    return n;
}

static void so_many_at_once_and_so_many_a_minute(void **state) {
    (void)state;
    struct callers *c = callers_new();
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "10.0.0.1:2", "a", SEC(5), 100),
                     0); /* another port is nobody else */
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(6), 100), RATE / 60);
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(6) + MSEC(50), 100), 0);
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(6) + MSEC(100), 100), 1);
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(INT64_C(100000000)), 1000), RATE);
    callers_free(c);
}

static void others_have_their_own(void **state) {
    (void)state;
    struct callers *c = callers_new();
    assert_int_equal(admitted(c, "10.0.0.1:1", "a", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "10.0.0.1:1", "b", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "10.0.0.2:1", "a", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "[2001:db8::1]:1", "a", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "[::ffff:10.0.0.1]:1", "a", SEC(5), 1000), 0); /* the first one */
    assert_int_equal(admitted(c, "", "a", SEC(5), 1000), RATE);
    assert_int_equal(admitted(c, "nonsense", "a", SEC(5), 1000), 0); /* as that */
    callers_free(c);
}

/* Whoever keeps on asking keeps being refused, however many others come by: the table has an end,
 * and those go first who have not been heard of for longest. */
static void a_flood_of_others(void **state) {
    (void)state;
    struct callers *c = callers_new();
    int64_t now = SEC(5);
    char id[16];
    unsigned more = 0;
    admitted(c, "10.0.0.1:1", "a", now, 1000);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "id-%u", i);
        callers_admit(c, "10.0.0.9:1", id, RATE, ++now);
        more += callers_admit(c, "10.0.0.1:1", "a", RATE, now);
    }
    assert_true(more <= 2); /* a tenth of a second has passed */
    callers_free(c);
}

static void addresses_of_a_node(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'w1','resourceVersion':'1'},'status':{'addresses':["
              "{'type':'Hostname','address':'w1'},{'type':'InternalIP','address':'10.0.0.7'},"
              "{'type':'InternalIP','address':'2001:db8::7'}]}}");
    const struct node *node = (const struct node *)store_get(w.nodes, NULL, "w1");
    static const char *const good[] = {"10.0.0.7:1", "[2001:db8::7]:4711", "[::ffff:10.0.0.7]:9",
                                       "[2001:DB8:0::7%eth0]:4711"};
    static const char *const bad[] = {
        "10.0.0.8:1", "[2001:db8::8]:1", "", "10.0.0.7", "w1:1", "[]:1", ":1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(caller_is_node(good[i], node));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(caller_is_node(bad[i], node));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_at_once_and_so_many_a_minute),
        cmocka_unit_test(others_have_their_own),
        cmocka_unit_test(a_flood_of_others),
        cmocka_unit_test(addresses_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
