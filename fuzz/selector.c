/* Label selectors as typed: what is read prints in a normal form that reads and prints the same,
 * and matches the same. */
#include "model/selector.h"

#include "fuzz.h"

static const struct pair *labels_of(struct pool *pool, const char *a, const char *b) {
    struct pair list[2] = {{pool_str(pool, "a", 1), pool_str(pool, a, strlen(a))},
                           {pool_str(pool, "x.io/b", 6), b ? pool_str(pool, b, strlen(b)) : NULL}};
    if (!b)
        pool_unref(pool, list[1].key);
    return pool_blob(pool, &type_pair, list, (b ? 2 : 1) * sizeof list[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const values[][2] = {{"", NULL},  {"b", ""},  {"5", "b"},
                                            {"in", "7"}, {"a", "c"}, {"notin", NULL}};
    char *text = xstrndup((const char *)data, size);
    _cleanup_err_ struct err err = ERR_INIT;
    struct selector s = {0}, again = {0};
    int rc = selector_parse(text, &s, &err);
    if (rc) {
        FUZZ_CHECK(rc < 0 && err.code == -rc && *err_msg(&err) && !s.pool);
    } else {
        _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
        requirements_print(&first, s.list);
        FUZZ_CHECK(!selector_parse(str_get(&first), &again, NULL));
        requirements_print(&second, again.list);
        FUZZ_CHECK(streq(str_get(&first), str_get(&second)));
        FUZZ_CHECK(list_len(s.list) == list_len(again.list));
        struct pool *pool = pool_new(type_drop);
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            const struct pair *labels = labels_of(pool, values[i][0], values[i][1]);
            FUZZ_CHECK(requirements_match(s.list, labels) ==
                       requirements_match(again.list, labels));
            pool_unref(pool, labels);
        }
        for (size_t i = 0; i < list_len(s.list); i++)
            FUZZ_CHECK(!requirement_check(&s.list[i], NULL));
        FUZZ_CHECK(pool_stats(pool).entries == 0);
        pool_free(pool);
    }
    selector_done(&s);
    selector_done(&again);
    free(text);
    return 0;
}
