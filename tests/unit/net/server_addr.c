/* Tests of net/server_addr.c. Sockets that listen are tested with net/server.c. */
#include "net/server_addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static void test_good(void **state) {
    (void)state;
    static const struct {
        const char *text, *back;
        int family, port;
        bool any;
    } cases[] = {
        {"127.0.0.1:6443", "127.0.0.1:6443", AF_INET, 6443, false},
        {"0.0.0.0:0", "0.0.0.0:0", AF_INET, 0, false},
        {"255.255.255.255:65535", "255.255.255.255:65535", AF_INET, 65535, false},
        {"[::1]:80", "[::1]:80", AF_INET6, 80, false},
        {"[::]:80", "[::]:80", AF_INET6, 80, false},
        {"[2001:DB8::00ff]:080", "[2001:db8::ff]:80", AF_INET6, 80, false},
        {"[::ffff:10.0.0.1]:1", "10.0.0.1:1", AF_INET6, 1, false},
        {":8080", "[::]:8080", AF_INET6, 8080, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_addr addr;
        char buf[HTTP_ADDR_LEN];
        assert_int_equal(http_addr_parse(cases[i].text, &addr, NULL), 0);
        assert_int_equal(addr.sa.ss_family, cases[i].family);
        assert_int_equal(addr.any, cases[i].any);
        assert_int_equal(http_addr_port((struct sockaddr *)&addr.sa), cases[i].port);
        assert_string_equal(http_addr_format((struct sockaddr *)&addr.sa, buf), cases[i].back);
    }
}

static void test_bad(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        ":",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:-1",
        "127.0.0.1:65536",
        "127.0.0.1:000001",
        "127.0.0.1: 80",
        "127.0.0:80",
        "127.0.0.1.1:80",
        "256.0.0.1:80",
        "localhost:80",
        "::1:80",
        "[]:80",
        "[::1:80",
        "::1]:80",
        "[127.0.0.1]:80",
        "[fe80::1%lo]:80",
        "[::1] :80",
        "http://127.0.0.1:80",
        "[11111111111111111111111111111111111111111111111111111111111111111]:80",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct http_addr addr;
        assert_int_equal(http_addr_parse(bad[i], &addr, &err), -EINVAL);
        char *want = xasprintf("\"%s\" is no address to listen on: ", bad[i]);
        assert_true(str_starts(err_msg(&err), want));
        free(want);
        assert_int_equal(http_addr_listen(bad[i], NULL), -EINVAL);
    }
}

static void test_other_sockets(void **state) {
    (void)state;
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/x"};
    char buf[HTTP_ADDR_LEN] = "x";
    assert_string_equal(http_addr_format((struct sockaddr *)&un, buf), "");
    assert_int_equal(http_addr_port((struct sockaddr *)&un), 0);
}

static void test_listens(void **state) {
    (void)state;
    int fd = http_addr_listen("127.0.0.1:0", NULL);
    assert_true(fd >= 0);
    struct sockaddr_in sa;
    socklen_t len = sizeof sa;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    int one = 0;
    len = sizeof one;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &one, &len), 0);
    assert_int_equal(one, 1);
    /* Again on the same port: in use, also with SO_REUSEADDR. */
    char *text = xasprintf("127.0.0.1:%d", ntohs(sa.sin_port));
    assert_int_equal(http_addr_listen(text, NULL), -EADDRINUSE);
    close(fd);
    fd = http_addr_listen(text, NULL);
    assert_true(fd >= 0);
    close(fd);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_other_sockets),
        cmocka_unit_test(test_listens),
    };
    return cmocka_run_group_tests_name("server_addr", tests, NULL, NULL);
}
