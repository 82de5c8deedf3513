/* Metrics as text. */
#include "base/exposition.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

static const char total[] = "_total";

void exposition_init(struct exposition *e, struct str *out, bool open) {
    *e = (struct exposition){.out = out, .open = open, .name = ""};
}

/* Both forms escape the same in labels; of help texts only OpenMetrics escapes quotes, and ours
 * have none. */
static void add_escaped(struct str *out, const char *text) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_clean(&clean, text, strlen(text));
    for (const char *p = str_get(&clean); *p; p++)
        switch (*p) {
        case '\\':
            str_add(out, "\\\\");
            break;
        case '"':
            str_add(out, "\\\"");
            break;
        case '\n':
            str_add(out, "\\n");
            break;
        default:
            str_addc(out, *p);
        }
}

/* OpenMetrics calls the family of a counter by what is before _total. */
static int family_len(const struct exposition *e, const char *name, enum exposition_type type) {
    size_t len = strlen(name);
    return (int)(e->open && type == EXPOSE_COUNTER && str_ends(name, total)
                     ? len - (sizeof total - 1)
                     : len);
}

void exposition_family(struct exposition *e, const char *name, enum exposition_type type,
                       const char *help) {
    static const char *const words[] = {[EXPOSE_GAUGE] = "gauge",
                                        [EXPOSE_COUNTER] = "counter",
                                        [EXPOSE_HISTOGRAM] = "histogram",
                                        [EXPOSE_UNKNOWN] = "untyped"};
    int len = family_len(e, name, type);
    e->name = name;
    str_addf(e->out, "# HELP %.*s ", len, name);
    add_escaped(e->out, help);
    str_addf(e->out, "\n# TYPE %.*s %s\n", len, name,
             e->open && type == EXPOSE_UNKNOWN ? "unknown" : words[type]);
}

/* As short as it can be without losing a millisecond of a point in time. */
static void add_number(struct str *out, double value) {
    if (isnan(value))
        str_add(out, "NaN");
    else if (isinf(value))
        str_add(out, value > 0 ? "+Inf" : "-Inf");
    else
        str_addf(out, "%.15g", value);
}

void exposition_number(const struct exposition *e, double value, struct str *out) {
    size_t had = out->len;
    add_number(out, value);
    /* The canonical form of OpenMetrics has a fraction. */
    if (e->open && isfinite(value) && !strpbrk(str_get(out) + had, ".e"))
        str_add(out, ".0");
}

void exposition_sample(struct exposition *e, const char *suffix,
                       const struct exposition_label *labels, size_t n, double value) {
    str_addf(e->out, "%s%s", e->name, suffix);
    for (size_t i = 0; i < n; i++) {
        str_addf(e->out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        add_escaped(e->out, strna(labels[i].value));
        str_addc(e->out, '"');
    }
    str_add(e->out, n ? "} " : " ");
    add_number(e->out, value);
    str_addc(e->out, '\n');
}

void exposition_end(struct exposition *e) {
    if (e->open)
        str_add(e->out, "# EOF\n");
}

/* Prometheus sends what it prefers first; a client that names OpenMetrics at all understands it. */
bool exposition_wants_open(const char *accept) {
    static const char type[] = "application/openmetrics-text";
    for (const char *p = strna(accept); *p; p += *p == ',') {
        p += strspn(p, " \t");
        size_t len = strcspn(p, ",;");
        while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
            len--;
        if (len == sizeof type - 1 && !strncasecmp(p, type, len))
            return true;
        p += strcspn(p, ",");
    }
    return false;
}
