/* Numbers against a schema. */
#include "sim/api/structural_number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* 2^53 - 1: from there on floats skip integers. */
#define MAX_SAFE 9007199254740991.0

int64_t number_to_int(double v) {
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

/* Negative numbers come out as huge ones. */
static double through_unsigned(double v) {
    return (double)(v < 0x1p63 ? (uint64_t)number_to_int(v) : (uint64_t)v);
}

bool number_is_whole(double v) {
    if (isnan(v) || v < -MAX_SAFE || v > MAX_SAFE)
        return false;
    double cut = through_unsigned(v), distance = fabs(v - cut);
    if (v == cut || v == (double)number_to_int(v))
        return true;
    if (v == 0 || cut == 0)
        return false;
    return distance / fmin(fabs(v) + fabs(cut), DBL_MAX) < 1e-9;
}

/* --- values of both kinds --- */

struct number {
    bool is_int;
    int64_t i;
    double f; /* the same as a float */
};

static struct number number_of(const json_t *v) {
    if (json_is_integer(v))
        return (struct number){true, json_integer_value(v), (double)json_integer_value(v)};
    return (struct number){false, 0, json_real_value(v)};
}

static void print(struct str *out, struct number n) {
    if (n.is_int)
        str_addf(out, "%" PRId64, n.i);
    else
        structural_float(out, n.f);
}

/* --- ranges --- */

/* Can it be held by the type? Other than that of an integer, only floats have a range. */
static bool in_range(struct number n, unsigned type, const char *format) {
    if (type == STYPE_INTEGER) {
        bool small = format && streq(format, "int32");
        /* Floats are written out with all their digits and read as an integer. */
        if (!n.is_int && (n.f != floor(n.f) || n.f < -0x1p63 || n.f >= 0x1p63))
            return false;
        int64_t i = n.is_int ? n.i : (int64_t)n.f;
        return !small || (i >= INT32_MIN && i <= INT32_MAX);
    }
    /* What rounds to the largest float still is one. */
    return !format || !streq(format, "float") || fabs(n.f) < 0x1.ffffffp127;
}

static bool check_range(struct number n, unsigned type, const char *format, const char *what,
                        const struct spath *path, struct vresult *out) {
    if (in_range(n, type, format))
        return true;
    _cleanup_str_ struct str where = STR_INIT;
    const char *name = type ? stype_names(type) : "";
    vpath_print(&where, path);
    if (format)
        verror_plain(out, "%s value must be of type %s with format %s in %s", what, name, format,
                     str_get(&where));
    else
        verror_plain(out, "%s value must be of type %s (default format) in %s", what, name,
                     str_get(&where));
    return false;
}

/* --- constraints --- */

/* The value as an integer if it is one and the constraint's number fits its type, else as a float.
 */
struct comparison {
    struct number value, limit;
};

static struct comparison compare_as(struct number value, double limit, bool native) {
    bool ints = native && value.is_int;
    return (struct comparison){ints ? value : (struct number){false, 0, value.f},
                               {ints, ints ? number_to_int(limit) : 0, limit}};
}

static void too_far(const struct comparison *c, const char *words, const struct spath *path,
                    struct vresult *out) {
    _cleanup_str_ struct str limit = STR_INIT, shown = STR_INIT;
    print(&limit, c->limit);
    print(&shown, c->value);
    verror_about(out, FIELD_INVALID, path, str_get(&shown), NULL, "%s %s", words, str_get(&limit));
}

static int order(const struct comparison *c) {
    if (c->value.is_int)
        return c->value.i < c->limit.i ? -1 : c->value.i > c->limit.i;
    return c->value.f < c->limit.f ? -1 : c->value.f > c->limit.f;
}

static void check_maximum(const struct snode *n, struct number value, bool native,
                          const struct spath *path, struct vresult *out) {
    struct comparison c = compare_as(value, n->maximum.value, native);
    if (order(&c) > 0 || (n->maximum.exclusive && order(&c) == 0))
        too_far(&c,
                n->maximum.exclusive ? "should be less than" : "should be less than or equal to",
                path, out);
}

static void check_minimum(const struct snode *n, struct number value, bool native,
                          const struct spath *path, struct vresult *out) {
    struct comparison c = compare_as(value, n->minimum.value, native);
    if (order(&c) < 0 || (n->minimum.exclusive && order(&c) == 0))
        too_far(&c,
                n->minimum.exclusive ? "should be greater than"
                                     : "should be greater than or equal to",
                path, out);
}

static bool is_multiple(const struct comparison *c) {
    if (c->value.is_int)
        return c->value.i % c->limit.i == 0;
    double factor = c->limit.f;
    return number_is_whole(factor < 1 ? 1 / factor * c->value.f : c->value.f / factor);
}

static void check_multiple(const struct snode *n, struct number value, bool native,
                           const struct spath *path, struct vresult *out) {
    struct comparison c = compare_as(value, n->multiple_of.value, native);
    bool positive = c.value.is_int ? c.limit.i > 0 : c.limit.f > 0;
    if (positive && is_multiple(&c))
        return;
    if (positive) {
        too_far(&c, "should be a multiple of", path, out);
        return;
    }
    _cleanup_str_ struct str factor = STR_INIT, where = STR_INIT;
    print(&factor, c.limit);
    vpath_print(&where, path);
    char *words = xasprintf("factor MultipleOf declared for %s must be positive: %s",
                            str_get(&where), str_get(&factor));
    vresult_add(out, (struct verror){FIELD_INVALID, str_take(&where), str_take(&factor),
                                     xstrdup(words), words});
}

void number_validate(const struct snode *n, unsigned type, const char *format, const json_t *value,
                     const struct spath *path, struct vresult *out) {
    static const struct constraint {
        size_t bound;
        const char *what;
        void (*check)(const struct snode *, struct number, bool, const struct spath *,
                      struct vresult *);
    } constraints[] = {
        {offsetof(struct snode, multiple_of), "MultipleOf", check_multiple},
        {offsetof(struct snode, minimum), "Minimum boundary", check_minimum},
        {offsetof(struct snode, maximum), "Maximum boundary", check_maximum},
    };
    struct number v = number_of(value);
    check_range(v, type, format, "Checked", path, out);
    for (size_t i = 0; i < ARRAY_LEN(constraints); i++) {
        const struct constraint *c = &constraints[i];
        const struct sbound *b = (const struct sbound *)((const char *)n + c->bound);
        if (!b->set)
            continue;
        bool native =
            check_range((struct number){false, 0, b->value}, type, format, c->what, path, out);
        c->check(n, v, native, path, out);
    }
    out->matches++;
}
