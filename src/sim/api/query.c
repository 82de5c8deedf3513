/* Queries and their options. */
#include "sim/api/query.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/utf8.h"
#include "model/type.h"
#include "sim/api/filter.h"

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool url_decode(struct arena *arena, const char *p, size_t len, bool plus, char **out) {
    char *s = arena_alloc(arena, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = p[i];
        if (c == '%') {
            if (len - i < 3)
                return false;
            int high = hex(p[i + 1]), low = hex(p[i + 2]);
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            if (!c && !plus)
                return false;
            c = c ? c : 1; /* of a query: a text with it is not to pass for a shorter one */
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        s[n++] = c;
    }
    *out = s;
    return true;
}

void query_parse(struct query *q, const char *text) {
    *q = (struct query){0};
    while (text && *text) {
        size_t len = strcspn(text, "&");
        size_t key = strcspn(text, "=&");
        char *k, *v;
        /* Go's parser leaves out pairs that it cannot decode, and so do we. */
        if (key && url_decode(&q->arena, text, key, true, &k) &&
            url_decode(&q->arena, text + key + (key < len), len - key - (key < len), true, &v))
            *vec_push(&q->pairs) = (struct query_pair){k, v};
        text += len;
        text += *text == '&';
    }
}

void query_done(struct query *q) {
    arena_done(&q->arena);
    vec_done(&q->pairs);
}

const char *query_get(const struct query *q, const char *key) {
    for (size_t i = 0; i < q->pairs.len; i++)
        if (streq(q->pairs.p[i].key, key))
            return q->pairs.p[i].value;
    return NULL;
}

/* As runtime.Convert_Slice_string_To_bool: what is there and not "false" or "0" is true. */
static bool get_bool(const struct query *q, const char *key, bool *set) {
    const char *v = query_get(q, key);
    if (set)
        *set = v != NULL;
    return v && !streq(v, "0") && strcasecmp(v, "false") != 0;
}

static int get_int(const struct query *q, const char *key, int64_t absent, int64_t *out,
                   struct failure *f) {
    const char *v = query_get(q, key);
    *out = absent;
    if (!v)
        return 0;
    char *end;
    errno = 0;
    long long n = strtoll(v, &end, 10);
    if (!*v || *end || *v == ' ')
        return fail_bad_request(f, "strconv.ParseInt: parsing \"%s\": invalid syntax", v);
    if (errno)
        return fail_bad_request(f, "strconv.ParseInt: parsing \"%s\": value out of range", v);
    *out = n;
    return 0;
}

int query_list_options(const struct query *q, struct list_options *o, struct failure *f) {
    *o = (struct list_options){
        .labels = query_get(q, "labelSelector"),
        .fields = query_get(q, "fieldSelector"),
        .watch = get_bool(q, "watch", NULL),
        .bookmarks = get_bool(q, "allowWatchBookmarks", NULL),
        .version = query_get(q, "resourceVersion"),
        .token = query_get(q, "continue"),
    };
    o->initial_events = get_bool(q, "sendInitialEvents", &o->initial_events_set);
    if (o->version && !*o->version)
        o->version = NULL;
    if (o->token && !*o->token)
        o->token = NULL;
    if (get_int(q, "timeoutSeconds", ABSENT64, &o->timeout, f) ||
        get_int(q, "limit", 0, &o->limit, f) || filter_check(o->labels, o->fields, f))
        return -1;
    struct field_errors e = {0};
    const char *match = strna(query_get(q, "resourceVersionMatch"));
    /* SetListOptionsDefaults: a watch from nothing begins with what there is. */
    if (o->watch && !o->initial_events_set && !*match && (!o->version || streq(o->version, "0"))) {
        o->initial_events_set = o->initial_events = true;
        match = "NotOlderThan";
    }
    json_t *given = json_string(match);
    o->match = streq(match, "Exact")          ? MATCH_EXACT
               : streq(match, "NotOlderThan") ? MATCH_NOT_OLDER
                                              : MATCH_UNSET;
    bool known = o->match != MATCH_UNSET;
    /* As apimachinery's pkg/apis/meta/internalversion/validation. */
    if (o->watch) {
        if (o->initial_events_set && o->match != MATCH_NOT_OLDER)
            field_error(&e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        if (*match) {
            if (!o->initial_events_set)
                field_error(&e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                            "resourceVersionMatch is forbidden for watch unless sendInitialEvents "
                            "is provided");
            if (o->match != MATCH_NOT_OLDER)
                field_error(&e, FIELD_NOT_SUPPORTED, "resourceVersionMatch", given,
                            "supported values: \"NotOlderThan\"");
            if (o->token)
                field_error(&e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                            "resourceVersionMatch is forbidden when continue is provided");
        }
    } else {
        if (*match) {
            if (!o->version)
                field_error(&e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                            "resourceVersionMatch is forbidden unless resourceVersion is provided");
            if (o->token)
                field_error(&e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                            "resourceVersionMatch is forbidden when continue is provided");
            if (!known)
                field_error(&e, FIELD_NOT_SUPPORTED, "resourceVersionMatch", given,
                            "supported values: \"Exact\", \"NotOlderThan\", \"\"");
            if (o->match == MATCH_EXACT && o->version && streq(o->version, "0"))
                field_error(
                    &e, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
        if (o->initial_events_set)
            field_error(&e, FIELD_FORBIDDEN, "sendInitialEvents", NULL,
                        "sendInitialEvents is forbidden for list");
    }
    json_decref(given);
    int rc = 0;
    if (e.v.len)
        rc = fail_invalid(f, "meta.k8s.io", "ListOptions", "", &e);
    field_errors_done(&e);
    return rc;
}

int version_parse(const char *text, int code, uint64_t *out, struct failure *f) {
    *out = 0;
    if (str_empty(text))
        return 0;
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno) {
        *out = v;
        return 0;
    }
    return fail(f, code, code == 400 ? "BadRequest" : "",
                "%sresourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": %s",
                code == 400 ? "invalid resource version: " : "", text, text,
                errno ? "value out of range" : "invalid syntax");
}

/* As ValidateFieldManager(): each character must be printable. */
static void check_printable(const char *text, const char *field, struct field_errors *e) {
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        size_t n = utf8_len(text + i, len - i);
        uint32_t rune = n ? utf8_decode(text + i, n) : 0xfffd;
        if (n && (rune < ' ' || rune == 0x7f || utf8_unsafe(rune))) {
            json_t *shown = json_string(text);
            field_error(e, FIELD_INVALID, field, shown,
                        "invalid character U+%04X (at position %zu)", rune, i);
            json_decref(shown);
        }
        i += n ? n : 1;
    }
}

int query_write_options(const struct query *q, const char *kind, struct write_options *out,
                        struct failure *f) {
    *out = (struct write_options){0};
    struct field_errors e = {0};
    for (size_t i = 0; i < q->pairs.len; i++) {
        if (!streq(q->pairs.p[i].key, "dryRun"))
            continue;
        out->n_dry_run++;
        const char *v = q->pairs.p[i].value;
        if (streq(v, "All")) {
            out->dry_run = true;
        } else {
            json_t *given = json_pack("[s]", v);
            field_error(&e, FIELD_NOT_SUPPORTED, "dryRun", given, "supported values: \"All\"");
            json_decref(given);
        }
    }
    const char *v = strna(query_get(q, "fieldValidation"));
    if (streq(v, "Strict")) {
        out->validation = VALIDATE_STRICT;
    } else if (streq(v, "Ignore")) {
        out->validation = VALIDATE_IGNORE;
    } else if (*v && !streq(v, "Warn")) {
        json_t *given = json_string(v);
        field_error(&e, FIELD_NOT_SUPPORTED, "fieldValidation", given,
                    "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
        json_decref(given);
    }
    const char *manager = strna(query_get(q, "fieldManager"));
    if (strlen(manager) > 128)
        field_error(&e, FIELD_TOO_LONG, "fieldManager", NULL, "may not be more than 128 bytes");
    check_printable(manager, "fieldManager", &e);
    if (streq(kind, "PatchOptions") && query_get(q, "force"))
        field_error(&e, FIELD_FORBIDDEN, "force", NULL, "may not be specified for non-apply patch");
    int rc = 0;
    if (e.v.len)
        rc = fail_invalid(f, "meta.k8s.io", kind, "", &e);
    field_errors_done(&e);
    return rc;
}
