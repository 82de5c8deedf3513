/* Node sets as typed: what is read prints in a form that reads and prints the same, names come in
 * order and are found again, and the operators agree with each other. An input is one set, or two
 * with a newline between them. */
#include "base/nodeset.h"

#include <errno.h>

#include "fuzz.h"

enum { LOOK_AT = 100 }; /* names of a set */

/* A group has three nodes, unless it is called "none". */
static int group(void *arg, const char *source, const char *name, struct nodeset *out,
                 struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    (void)arg;
    FUZZ_CHECK((!source || *source) && *name && nodeset_empty(out));
    if (streq(name, "none"))
        return err_set(err, ENOENT, "there is no group none");
    str_addf(&text, "g-[1-2],%.20s", streq(name, "*") ? "all" : name);
    return nodeset_parse(str_get(&text), NULL, NULL, out, err);
}

static bool parse(const char *text, struct nodeset *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = nodeset_parse(text, group, NULL, out, &err);
    if (!rc)
        return true;
    FUZZ_CHECK(rc < 0 && err.code == -rc && nodeset_empty(out));
    FUZZ_CHECK(str_starts(err_msg(&err), "node set \"") && strstr(err_msg(&err), "\", column "));
    FUZZ_CHECK(!strchr(err_msg(&err), '\n'));
    return false;
}

static void check_text(const struct nodeset *s) {
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    _cleanup_nodeset_ struct nodeset again = NODESET_INIT;
    nodeset_print(s, &first);
    if (first.len > 1 << 20) /* a set may be a million pieces: true, but slow */
        return;
    FUZZ_CHECK(!nodeset_parse(str_get(&first), NULL, NULL, &again, NULL));
    FUZZ_CHECK(nodeset_equal(s, &again) && nodeset_count(s) == nodeset_count(&again));
    nodeset_print(&again, &second);
    FUZZ_CHECK(streq(str_get(&first), str_get(&second)));
}

static void check_names(const struct nodeset *s) {
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(s);
    _cleanup_nodeset_ struct nodeset some = NODESET_INIT, rest = NODESET_INIT;
    _cleanup_str_ struct str folded = STR_INIT, printed = STR_INIT;
    char *names[LOOK_AT];
    size_t n = 0;
    for (const char *name; n < LOOK_AT && (name = nodeset_next(&it)); n++) {
        FUZZ_CHECK(nodeset_valid_name(name) && nodeset_contains(s, name));
        FUZZ_CHECK(!nodeset_contains(&some, name));
        FUZZ_CHECK(!nodeset_add(&some, name, NULL));
        names[n] = xstrdup(name);
    }
    FUZZ_CHECK(n == MIN_OF(nodeset_count(s), (uint64_t)LOOK_AT) && nodeset_count(&some) == n);
    nodeset_fold((const char *const *)names, n, &folded);
    nodeset_print(&some, &printed);
    FUZZ_CHECK(streq(str_get(&folded), str_get(&printed)));
    if (n < LOOK_AT)
        FUZZ_CHECK(nodeset_equal(s, &some));
    nodeset_copy(&some, &rest);
    FUZZ_CHECK(!nodeset_difference(&rest, s, NULL) && nodeset_empty(&rest));
    while (n)
        free(names[--n]);
}

/* a op b; false when it is too complicated. */
static bool combined(const struct nodeset *a, enum nodeset_op op, const struct nodeset *b,
                     struct nodeset *out) {
    nodeset_copy(a, out);
    int rc = nodeset_combine(out, op, b, NULL);
    FUZZ_CHECK(!rc || nodeset_equal(a, out));
    return !rc;
}

static void check_algebra(const struct nodeset *a, const struct nodeset *b) {
    _cleanup_nodeset_ struct nodeset all = NODESET_INIT, only_a = NODESET_INIT;
    _cleanup_nodeset_ struct nodeset only_b = NODESET_INIT, both = NODESET_INIT;
    _cleanup_nodeset_ struct nodeset either = NODESET_INIT, sum = NODESET_INIT;
    if (!combined(a, NODESET_UNION, b, &all) || !combined(a, NODESET_DIFFERENCE, b, &only_a) ||
        !combined(b, NODESET_DIFFERENCE, a, &only_b) ||
        !combined(a, NODESET_INTERSECTION, b, &both) || !combined(a, NODESET_XOR, b, &either))
        return;
    if (!combined(&only_a, NODESET_UNION, &only_b, &sum))
        return;
    FUZZ_CHECK(nodeset_equal(&sum, &either));
    if (nodeset_union(&sum, &both, NULL))
        return;
    FUZZ_CHECK(nodeset_equal(&sum, &all));
    if (nodeset_count(&all) != UINT64_MAX)
        FUZZ_CHECK(nodeset_count(&all) ==
                   nodeset_count(&only_a) + nodeset_count(&only_b) + nodeset_count(&both));
    check_text(&either);
    check_names(&either);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_nodeset_ struct nodeset a = NODESET_INIT, b = NODESET_INIT;
    char *text = xstrndup((const char *)data, size);
    char *second = strchr(text, '\n');
    if (second)
        *second++ = '\0';
    if (parse(text, &a)) {
        check_text(&a);
        check_names(&a);
        if (second && parse(second, &b))
            check_algebra(&a, &b);
    }
    free(text);
    return 0;
}
