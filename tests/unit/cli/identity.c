/* Tests of src/cli/identity.c. */
#include "cli/identity.h"

#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static void check(const struct identity_facts *facts, const char *holder, const char *id,
                  const char *by) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct identity got;
    assert_int_equal(identity_make(facts, holder, &arena, &got, NULL), 0);
    assert_string_equal(got.id, id);
    assert_string_equal(got.by, by);
}

static void sudo_then_the_account_then_the_number(void **state) {
    (void)state;
    struct identity_facts f = {.sudo_user = "alice", .account = "root", .uid = 0, .host = "pc"};
    check(&f, NULL, "cli/alice", "alice@pc");
    f.sudo_user = "";
    f.account = "carol";
    check(&f, NULL, "cli/carol", "carol@pc");
    f.sudo_user = NULL;
    check(&f, NULL, "cli/carol", "carol@pc");
    f.account = NULL;
    f.uid = 4294967294;
    check(&f, NULL, "cli/4294967294@pc", "4294967294@pc");
}

/* Two people who are root on two machines must not let each other's nodes go; the same root after a
 * crash must. */
static void root_is_another_on_every_machine(void **state) {
    (void)state;
    struct identity_facts f = {.account = "root", .host = "pc"};
    check(&f, NULL, "cli/root@pc", "root@pc");
    f.sudo_user = "root"; /* sudo -i, and from there sudo again */
    check(&f, NULL, "cli/root@pc", "root@pc");
    f.host = "bastion.example.org";
    check(&f, NULL, "cli/root@bastion.example.org", "root@bastion.example.org");
    check(&f, "storage-team", "storage-team", "root@bastion.example.org");
    f.host = NULL;
    check(&f, NULL, "cli/root", "root@unknown");
    f.sudo_user = "alice";
    check(&f, NULL, "cli/alice", "alice@unknown");
}

static void a_machine_without_a_name(void **state) {
    (void)state;
    struct identity_facts f = {.account = "bob"};
    check(&f, NULL, "cli/bob", "bob@unknown");
    f.host = "";
    check(&f, NULL, "cli/bob", "bob@unknown");
}

static void holder_replaces_the_id_alone(void **state) {
    (void)state;
    struct identity_facts f = {.account = "bob", .host = "pc"};
    check(&f, "storage-team", "storage-team", "bob@pc");
    check(&f, "", "cli/bob", "bob@pc");
    check(&f,
          "Gr\xc3\xbc\xc3\x9f"
          "e an alle",
          "Gr\xc3\xbc\xc3\x9f"
          "e an alle",
          "bob@pc");
}

static void odd_names_are_passed_over(void **state) {
    (void)state;
    static const char *const odd[] = {"a b",       "a@b",  "a/b",           "a\nb",
                                      "a\033[31m", "\xff", "a\xe2\x80\xae", NULL};
    for (size_t i = 0; odd[i]; i++) {
        struct identity_facts f = {.sudo_user = odd[i], .account = "bob", .host = odd[i]};
        check(&f, NULL, "cli/bob", "bob@unknown");
    }
    char longest[IDENTITY_MAX + 1];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    struct identity_facts f = {.sudo_user = longest, .account = longest, .uid = 7, .host = "pc"};
    check(&f, NULL, "cli/7@pc", "7@pc");
}

static void a_holder_that_cannot_be_shown_is_refused(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    static const char *const bad[] = {"a\nb", "\033[2J", "\xc3", "\xe2\x80\xae"};
    struct identity_facts facts = {.account = "bob"};
    struct identity got = {.id = "untouched"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        assert_int_equal(identity_make(&facts, bad[i], &arena, &got, &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "--holder"));
        assert_string_equal(got.id, "untouched");
        err_done(&err);
    }
    char text[IDENTITY_MAX + 2];
    memset(text, 'x', sizeof text);
    text[IDENTITY_MAX + 1] = '\0';
    assert_int_equal(identity_make(&facts, text, &arena, &got, NULL), -EINVAL);
    text[IDENTITY_MAX] = '\0';
    assert_int_equal(identity_make(&facts, text, &arena, &got, NULL), 0);
    assert_string_equal(got.id, text);
}

static void reasons_are_bounded_and_printable(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    assert_int_equal(identity_check_reason(NULL, NULL), 0);
    assert_int_equal(identity_check_reason("CHG-1234: neuer Kernel, \xc3\xa4ndert nichts", NULL),
                     0);
    assert_int_equal(identity_check_reason("two\nlines", &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "--reason has characters that cannot be shown"));
    err_done(&err);
    char text[IDENTITY_REASON + 2];
    memset(text, 'x', sizeof text);
    text[IDENTITY_REASON + 1] = '\0';
    assert_int_equal(identity_check_reason(text, NULL), -EINVAL);
    text[IDENTITY_REASON] = '\0';
    assert_int_equal(identity_check_reason(text, NULL), 0);
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static char *sudo_env(const char *name) {
    return streq(name, "SUDO_USER") ? (char *)"carol" : NULL;
}

static void of_this_process(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct identity got;
    char want[600], host[256] = "";
    const struct passwd *me = getpwuid(getuid());
    gethostname(host, sizeof host - 1);
    assert_int_equal(identity_get(no_env, NULL, &arena, &got, NULL), 0);
    if (me && getuid())
        snprintf(want, sizeof want, "cli/%s", me->pw_name);
    else if (me)
        snprintf(want, sizeof want, "cli/%s@%s", me->pw_name, host);
    else
        snprintf(want, sizeof want, "cli/%lu@%s", (unsigned long)getuid(), host);
    assert_string_equal(got.id, want);
    assert_int_equal(identity_get(sudo_env, NULL, &arena, &got, NULL), 0);
    assert_string_equal(got.id, "cli/carol");
    snprintf(want, sizeof want, "carol@%s", host);
    assert_string_equal(got.by, want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sudo_then_the_account_then_the_number),
        cmocka_unit_test(root_is_another_on_every_machine),
        cmocka_unit_test(a_machine_without_a_name),
        cmocka_unit_test(holder_replaces_the_id_alone),
        cmocka_unit_test(odd_names_are_passed_over),
        cmocka_unit_test(a_holder_that_cannot_be_shown_is_refused),
        cmocka_unit_test(reasons_are_bounded_and_printable),
        cmocka_unit_test(of_this_process),
    };
    return cmocka_run_group_tests_name("cli/identity", tests, NULL, NULL);
}
