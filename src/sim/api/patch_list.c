/* Lists of strategic merge patches: which items are the same, and in what order they end up.
 *
 * The order follows apimachinery's (mergePatchIntoOriginal and below): what the patch names comes
 * in the patch's order, what only the live object has keeps its own order, and the two are
 * interleaved by the live order as far as they can be. Where the original looks through a list for
 * every item, there is an index here: patches of 100,000 items are no reason to wait for minutes.
 */
#include "sim/api/patch_internal.h"

int fail_no_merge_key(const json_t *item, const char *merge_key, struct err *err) {
    _cleanup_str_ struct str words = STR_INIT;
    words_value(&words, item);
    return err_set(err, PATCH_BROKEN, "map: %s does not contain declared merge key: %s",
                   str_get(&words), merge_key);
}

int fail_type(const char *expected, const json_t *received, struct err *err) {
    return err_set(err, PATCH_BROKEN, "expected a %s, but received a %s", expected,
                   words_type(received));
}

static int fail_comparison(const json_t *v, struct err *err) {
    return err_set(err, PATCH_CRASH, "runtime error: comparing uncomparable type %s",
                   words_type(v));
}

static bool is_container(const json_t *v) {
    return json_is_object(v) || json_is_array(v);
}

static bool same_type(const json_t *a, const json_t *b) {
    return json_typeof(a) == json_typeof(b) || (json_is_boolean(a) && json_is_boolean(b));
}

/* Go's == on two values of unknown type. */
static int same_value(const json_t *a, const json_t *b, bool *same, struct err *err) {
    if (is_container(a) && same_type(a, b))
        return fail_comparison(a, err);
    *same = json_equal(a, b);
    return 0;
}

int list_type(const json_t *a, const json_t *b, const json_t **item, struct err *err) {
    const json_t *lists[] = {a, b}, *first = NULL;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        for (size_t i = 0; i < json_array_size(lists[l]); i++) {
            const json_t *v = json_array_get(lists[l], i);
            if (!first) {
                if (json_is_null(v))
                    return err_set(err, PATCH_CRASH,
                                   "runtime error: invalid memory address or nil pointer "
                                   "dereference");
                if (json_is_array(v))
                    return err_set(err, PATCH_UNFIT, "lists of lists are not supported");
                first = v;
            } else if (!same_type(first, v)) {
                _cleanup_str_ struct str words = STR_INIT;
                for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
                    str_addc(&words, k ? ' ' : '[');
                    if (lists[k])
                        words_value(&words, lists[k]);
                    else
                        str_add(&words, "[]");
                }
                return err_set(err, PATCH_BROKEN, "list element types are not identical: %s]",
                               str_get(&words));
            }
        }
    }
    if (!first)
        return err_set(err, PATCH_BROKEN, "no elements in any of the given slices");
    *item = first;
    return 0;
}

/* The value of an item's merge key; NULL and an error when there is none. */
static const json_t *key_of(const json_t *item, const char *merge_key, int *rc, struct err *err) {
    const json_t *value = json_object_get(item, merge_key);
    if (!value)
        *rc = json_is_object(item) ? fail_no_merge_key(item, merge_key, err)
                                   : fail_type(TYPE_MAPPING, item, err);
    return value;
}

int list_same_item(const json_t *a, const json_t *b, const char *merge_key, bool *same,
                   struct err *err) {
    int rc = 0;
    if (!*merge_key)
        return same_value(a, b, same, err);
    /* both types are looked at before the keys */
    if (!json_is_object(a) || !json_is_object(b))
        return fail_type(TYPE_MAPPING, json_is_object(a) ? b : a, err);
    a = key_of(a, merge_key, &rc, err);
    if (!rc)
        b = key_of(b, merge_key, &rc, err);
    return rc ? rc : same_value(a, b, same, err);
}

/* A text for a scalar that only equal ones have. */
static void known_by(const json_t *v, struct str *out) {
    str_reset(out);
    if (json_is_string(v)) {
        str_addc(out, 's');
        str_addn(out, json_string_value(v), json_string_length(v));
    } else if (json_is_integer(v)) {
        str_addf(out, "%lld", (long long)json_integer_value(v));
    } else if (json_is_real(v)) {
        str_addf(out, "r%a", json_real_value(v) + 0.0); /* -0.0 equals 0.0 */
    } else {
        str_add(out, json_is_true(v) ? "t" : json_is_false(v) ? "f" : "n");
    }
}

void list_index_init(struct list_index *x, const json_t *list, const char *merge_key) {
    *x = (struct list_index){merge_key, json_object(), 0, -1, -1, -1};
    for (size_t i = 0; i < json_array_size(list); i++)
        list_index_add(x, json_array_get(list, i));
}

void list_index_add(struct list_index *x, const json_t *item) {
    long at = (long)x->len++;
    const json_t *value = *x->merge_key ? json_object_get(item, x->merge_key) : item;
    if (*x->merge_key && !json_is_object(item)) {
        if (x->stranger < 0)
            x->stranger = at;
    } else if (json_is_object(value)) {
        if (x->mapping < 0)
            x->mapping = at;
    } else if (json_is_array(value)) {
        if (x->list < 0)
            x->list = at;
    } else if (value) {
        _cleanup_str_ struct str known = STR_INIT;
        known_by(value, &known);
        if (!json_object_getn(x->first, str_get(&known), known.len))
            json_object_setn_new_nocheck(x->first, str_get(&known), known.len, json_integer(at));
    }
}

void list_index_done(struct list_index *x) {
    json_decref(x->first);
    x->first = NULL;
}

int list_index_find(const struct list_index *x, const json_t *value, long *index, struct err *err) {
    long at = -1;
    if (json_is_object(value)) {
        at = x->mapping;
    } else if (json_is_array(value)) {
        at = x->list;
    } else {
        _cleanup_str_ struct str known = STR_INIT;
        known_by(value, &known);
        const json_t *found = json_object_getn(x->first, str_get(&known), known.len);
        if (found)
            at = (long)json_integer_value(found);
    }
    /* The original compares from the first item on, and stops at the one that it cannot. */
    if (x->stranger >= 0 && (at < 0 || x->stranger < at))
        return err_set(err, PATCH_BROKEN, "value for key %ld is not a map", x->stranger);
    if (at >= 0 && is_container(value))
        return fail_comparison(value, err);
    *index = at;
    return 0;
}

int list_split(const json_t *merged, const json_t *by, const char *merge_key, json_t **inside,
               json_t **others, struct err *err) {
    _cleanup_json_ json_t *in = json_array(), *out = json_array();
    struct list_index index;
    int rc = 0;
    list_index_init(&index, by, merge_key);
    /* Scalars are keys of a Go map there, which containers cannot be. */
    long unhashable = index.mapping >= 0 ? index.mapping : index.list;
    if (!*merge_key && unhashable >= 0)
        rc = err_set(err, PATCH_CRASH, "runtime error: hash of unhashable type %s",
                     words_type(json_array_get(by, (size_t)unhashable)));
    for (size_t i = 0; i < json_array_size(merged) && !rc; i++) {
        json_t *item = json_array_get(merged, i);
        long at = -1;
        if (!*merge_key && is_container(item)) {
            rc = err_set(err, PATCH_CRASH, "runtime error: hash of unhashable type %s",
                         words_type(item));
            break;
        }
        const json_t *value = *merge_key ? key_of(item, merge_key, &rc, err) : item;
        if (!rc)
            rc = list_index_find(&index, value, &at, err);
        if (!rc)
            json_array_append(at >= 0 ? in : out, item);
    }
    list_index_done(&index);
    if (rc)
        return rc;
    *inside = TAKE_PTR(in);
    *others = TAKE_PTR(out);
    return 0;
}

/* ---- order ---- */

/* An item and its place in a list that gives the order: an index, ABSENT, or CRASH when Go would
 * panic looking for it. */
enum { ABSENT = -1, CRASH = -2 };
struct ranked {
    json_t *item;
    long rank;
};

struct ranks {
    struct ranked *p;
    size_t len;
    bool crashed; /* a comparison met CRASH */
};

static void ranks_init(struct ranks *r, const json_t *items, const struct list_index *order) {
    *r = (struct ranks){xcalloc(MAX_OF(json_array_size(items), (size_t)1), sizeof *r->p),
                        json_array_size(items), false};
    for (size_t i = 0; i < r->len; i++) {
        json_t *item = json_array_get(items, i);
        const json_t *value = *order->merge_key ? json_object_get(item, order->merge_key) : item;
        r->p[i] = (struct ranked){item, ABSENT};
        if (list_index_find(order, value, &r->p[i].rank, NULL))
            r->p[i].rank = CRASH;
    }
}

/* Whether i is to stand before j. Not an order in the mathematical sense: an item that is not in
 * the list stands before every other, and every other before it. What comes out depends on which
 * items are compared, so that ranks_sort() has to do what sort.SliceStable does. */
static bool before(struct ranks *r, size_t i, size_t j) {
    long a = r->p[i].rank, b = r->p[j].rank;
    r->crashed |= a == CRASH || (a >= 0 && b == CRASH);
    return a < 0 || b < 0 || a < b;
}

static void swap(struct ranks *r, size_t i, size_t j) {
    struct ranked t = r->p[i];
    r->p[i] = r->p[j];
    r->p[j] = t;
}

static void insertion_sort(struct ranks *r, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        for (size_t j = i; j > from && before(r, j, j - 1); j--)
            swap(r, j, j - 1);
    }
}

/* Exchanges the neighbouring runs [from, middle) and [middle, to). */
static void rotate(struct ranks *r, size_t from, size_t middle, size_t to) {
    size_t len = to - from, left = middle - from;
    struct ranked *copy = xmemdup(r->p + from, len * sizeof *copy);
    for (size_t i = 0; i < len; i++)
        r->p[from + i] = copy[(i + left) % len];
    free(copy);
}

/* Merges two sorted runs in place: SymMerge of Kim and Kutzner, "Stable Minimum Storage Merging by
 * Symmetric Comparisons". */
static void merge_runs(struct ranks *r, size_t from, size_t middle, size_t to) {
    if (middle - from == 1) {
        size_t low = middle, high = to;
        while (low < high) {
            size_t half = (low + high) / 2;
            if (before(r, half, from))
                low = half + 1;
            else
                high = half;
        }
        rotate(r, from, middle, low);
        return;
    }
    if (to - middle == 1) {
        size_t low = from, high = middle;
        while (low < high) {
            size_t half = (low + high) / 2;
            if (!before(r, middle, half))
                low = half + 1;
            else
                high = half;
        }
        rotate(r, low, middle, to);
        return;
    }
    size_t half = (from + to) / 2, sum = half + middle;
    size_t low = middle > half ? sum - to : from, high = middle > half ? half : middle;
    while (low < high) {
        size_t probe = (low + high) / 2;
        if (!before(r, sum - 1 - probe, probe))
            low = probe + 1;
        else
            high = probe;
    }
    size_t end = sum - low;
    if (low < middle && middle < end)
        rotate(r, low, middle, end);
    if (from < low && low < half)
        merge_runs(r, from, low, half);
    if (half < end && end < to)
        merge_runs(r, half, end, to);
}

static void ranks_sort(struct ranks *r) {
    size_t run = 20; /* the length that Go sorts by insertion */
    for (size_t from = 0; from < r->len; from += run)
        insertion_sort(r, from, MIN_OF(from + run, r->len));
    for (; run < r->len; run *= 2) {
        for (size_t from = 0; from + run < r->len; from += 2 * run)
            merge_runs(r, from, from + run, MIN_OF(from + 2 * run, r->len));
    }
}

/* An item that is to be deleted, which may have come into a list with an item that was taken over
 * whole. */
static bool is_doomed(const json_t *item) {
    return str_same(json_str(item, "$patch"), "delete");
}

/* `items` in the order of `order`; those to be deleted last. */
static int sorted(const json_t *items, const json_t *order, const char *merge_key, bool mappings,
                  json_t **out, struct err *err) {
    const json_t *lists[] = {items, order};
    struct list_index index;
    struct ranks ranks;
    int rc = 0;
    for (size_t l = 0; mappings && l < ARRAY_LEN(lists); l++) {
        for (size_t i = 0; i < json_array_size(lists[l]) && !rc; i++)
            key_of(json_array_get(lists[l], i), merge_key, &rc, err);
        if (rc)
            return rc;
    }
    _cleanup_json_ json_t *kept = json_array(), *doomed = json_array();
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        json_array_append(is_doomed(item) ? doomed : kept, item);
    }
    list_index_init(&index, order, merge_key);
    ranks_init(&ranks, kept, &index);
    ranks_sort(&ranks);
    if (ranks.crashed) {
        rc = err_set(err, PATCH_CRASH, "runtime error: comparing uncomparable type");
    } else {
        *out = json_array();
        for (size_t i = 0; i < ranks.len; i++)
            json_array_append(*out, ranks.p[i].item);
        json_array_extend(*out, doomed);
    }
    free(ranks.p);
    list_index_done(&index);
    return rc;
}

int list_arrange(const json_t *inside, const json_t *others, const json_t *wanted,
                 const json_t *live, const char *merge_key, bool mappings, json_t **out,
                 struct err *err) {
    _cleanup_json_ json_t *in = NULL, *rest = NULL, *all = json_array();
    int rc = sorted(inside, wanted, merge_key, mappings, &in, err);
    if (!rc)
        rc = sorted(others, live, merge_key, mappings, &rest, err);
    if (rc)
        return rc;
    struct list_index index;
    struct ranks a, b;
    bool crashed = false;
    list_index_init(&index, live, merge_key);
    ranks_init(&a, in, &index);
    ranks_init(&b, rest, &index);
    for (size_t i = 0, j = 0; i < a.len || j < b.len;) {
        bool both = i < a.len && j < b.len;
        long ours = i < a.len ? a.p[i].rank : ABSENT, theirs = j < b.len ? b.p[j].rank : ABSENT;
        crashed |= both && (ours == CRASH || theirs == CRASH);
        if (i == a.len || (both && theirs >= 0 && ours >= 0 && theirs < ours))
            json_array_append(all, b.p[j++].item);
        else
            json_array_append(all, a.p[i++].item);
    }
    free(a.p);
    free(b.p);
    list_index_done(&index);
    if (crashed)
        return err_set(err, PATCH_CRASH, "runtime error: comparing uncomparable type");
    *out = TAKE_PTR(all);
    return 0;
}
