/* Tests of src/cli/zincati.c. */
#include "cli/zincati.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* The address of a Service with this spec; "!..." when there is none: why. */
static char *url_of(const char *spec, bool https) {
    _cleanup_str_ struct str url = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = xasprintf("{\"spec\": %s}", spec);
    _cleanup_json_ json_t *service = json_loads(text, 0, NULL);
    assert_non_null(service);
    if (zincati_url(service, "ns/name", https, &url, &err)) {
        assert_int_equal(url.len, 0);
        return xasprintf("!%s", err_msg(&err));
    }
    return str_take(&url);
}

static void assert_url(const char *spec, bool https, const char *want) {
    _cleanup_free_ char *url = url_of(spec, https);
    assert_string_equal(url, want);
}

static void assert_none(const char *spec, bool https, const char *why) {
    _cleanup_free_ char *url = url_of(spec, https);
    assert_int_equal(url[0], '!');
    assert_non_null(strstr(url, "Service ns/name"));
    assert_non_null(strstr(url, why));
}

static void addresses(void **state) {
    (void)state;
    assert_url("{\"clusterIP\": \"10.0.0.7\", \"ports\": [{\"port\": 80}]}", false,
               "http://10.0.0.7/");
    assert_url("{\"clusterIP\": \"fd00::7\", \"ports\": [{\"port\": 80}]}", false,
               "http://[fd00::7]/");
    assert_url("{\"clusterIP\": \"fd00::7\", \"ports\": [{\"name\": \"https\", \"port\": 8443}]}",
               true, "https://[fd00::7]:8443/");
}

/* By number first: what a port is called, nobody can rely on. */
static void ports(void **state) {
    (void)state;
    static const char both[] =
        "{\"clusterIP\": \"10.0.0.7\", \"ports\": [{\"name\": \"http\", "
        "\"port\": 8080}, {\"name\": \"x\", \"port\": 80}, {\"port\": 443}]}";
    assert_url(both, false, "http://10.0.0.7/");
    assert_url(both, true, "https://10.0.0.7/");
    assert_url("{\"clusterIP\": \"10.0.0.7\", \"ports\": [{\"name\": \"http\", \"port\": 8080}]}",
               false, "http://10.0.0.7:8080/");
    assert_none("{\"clusterIP\": \"10.0.0.7\", \"ports\": [{\"name\": \"http\", \"port\": 8080}]}",
                true, "no port 443, nor one that is called https");
    assert_none("{\"clusterIP\": \"10.0.0.7\"}", false, "no port 80, nor one that is called http");
    assert_none("{\"clusterIP\": \"10.0.0.7\", \"ports\": [7, {\"name\": 1}]}", false, "no port");
}

static void no_address(void **state) {
    (void)state;
    assert_none("{\"clusterIP\": \"None\", \"ports\": [{\"port\": 80}]}", false, "no cluster IP");
    assert_none("{\"type\": \"ExternalName\"}", false, "no cluster IP");
    assert_none("{\"clusterIP\": \"\"}", false, "no cluster IP");
    assert_none("null", false, "no cluster IP");
}

static void assert_checked(const char *url, const char *want) {
    _cleanup_str_ struct str out = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = zincati_check_url(url, &out, &err);
    assert_int_equal(rc, want ? 0 : -EINVAL);
    assert_string_equal(str_get(&out), want ? want : "");
}

static void written_ones(void **state) {
    (void)state;
    assert_checked("http://10.3.0.15", "http://10.3.0.15/");
    assert_checked("https://[fd00::7]:8443/a", "https://[fd00::7]:8443/a/");
    assert_checked("http://locks.example/${group}/", "http://locks.example/${group}/");
    static const char *const wrong[] = {
        "",           "10.3.0.15",        "ftp://a/",        "http://",    "http:///a",
        "http://:80", "http://a/\"\nb=1", "http://a/b c",    "http://a\\", "http://a/?x=1",
        "http://a/#", "HTTP//a",          "http://\xc3\xa4", "https://?",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_checked(wrong[i], NULL);
    _cleanup_str_ struct str longer = STR_INIT;
    str_add(&longer, "http://a/");
    while (longer.len <= 2048)
        str_addc(&longer, 'a');
    assert_checked(str_get(&longer), NULL);
}

/* Word for word: it is what the reboot manager's users have. */
static void the_file(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    zincati_file("http://10.0.0.7/", &out);
    assert_string_equal(
        str_get(&out),
        "# /etc/zincati/config.d/reboot-manager.toml, on each node\n\n"
        "# How to finalize update.\n[updates]\n"
        "# Update strategy which uses an external reboot coordinator (FleetLock protocol).\n"
        "strategy = \"fleet_lock\"\n\n# Base URL for the FleetLock service.\n"
        "fleet_lock.base_url = \"http://10.0.0.7/\"\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),    cmocka_unit_test(ports),    cmocka_unit_test(no_address),
        cmocka_unit_test(written_ones), cmocka_unit_test(the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
