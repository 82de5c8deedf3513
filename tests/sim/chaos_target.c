/* What a request is, and which faults can meet it. */
#include <stdio.h>

#include "chaos.h"

/* --- words --- */

static const char *const kind_words[CHAOS_KINDS] = {
    [CHAOS_EVICT] = "evict",
    [CHAOS_DELETE_POD] = "delete pod",
    [CHAOS_PATCH_NODE] = "patch node",
    [CHAOS_PATCH_STATUS] = "patch node status",
    [CHAOS_PATCH_SLOTS] = "patch slots",
    [CHAOS_PATCH_MAINTENANCE] = "patch maintenance",
    [CHAOS_LEASE] = "lease",
    [CHAOS_PATCH_OTHER] = "patch other",
    [CHAOS_EVENT] = "create event",
    [CHAOS_OTHER] = "other write",
    [CHAOS_GET] = "get",
    [CHAOS_LIST] = "list",
    [CHAOS_WATCH] = "watch",
};

static const char *const fault_words[CHAOS_FAULTS] = {
    [CHAOS_REFUSED] = "refused",   [CHAOS_RESET] = "reset",   [CHAOS_SILENCE] = "silence",
    [CHAOS_LATE] = "late",         [CHAOS_CUT] = "cut",       [CHAOS_409] = "409",
    [CHAOS_410] = "410",           [CHAOS_429] = "429",       [CHAOS_429_AFTER] = "429+after",
    [CHAOS_429_FLOW] = "429 flow", [CHAOS_500] = "500",       [CHAOS_503] = "503",
    [CHAOS_504] = "504",           [CHAOS_KILLED] = "killed",
};

const char *chaos_kind_word(enum chaos_kind kind) {
    return kind_words[kind];
}
const char *chaos_fault_word(enum chaos_fault fault) {
    return fault_words[fault];
}

bool chaos_possible(enum chaos_kind kind, enum chaos_fault fault, bool applied) {
    if (kind < CHAOS_WRITES)
        return fault != CHAOS_410 && (fault != CHAOS_REFUSED || !applied) &&
               /* The answer of what was not carried out is cut nowhere, and late at no time. */
               ((fault != CHAOS_CUT && fault != CHAOS_LATE) || applied);
    if (applied || fault == CHAOS_409 || fault == CHAOS_KILLED)
        return false;
    return fault != CHAOS_410 || kind != CHAOS_GET;
}

/* --- paths --- */

void chaos_target(const char *path, struct chaos_target *out) {
    *out = (struct chaos_target){0};
    (void)snprintf(out->text, sizeof out->text, "%s", path);
    char *query = strchr(out->text, '?');
    if (query) {
        *query++ = '\0';
        static const char *const fields[] = {"metadata.name%3D", "spec.nodeName%3D",
                                             "metadata.name=", "spec.nodeName="};
        for (size_t i = 0; i < ARRAY_LEN(fields) && !*out->selected; i++) {
            const char *at = strstr(query, fields[i]);
            if (at)
                (void)snprintf(out->selected, sizeof out->selected, "%.*s",
                               (int)strcspn(at + strlen(fields[i]), "&%,"), at + strlen(fields[i]));
        }
    }
    char *save = NULL, *word = strtok_r(out->text, "/", &save);
    if (!word)
        return;
    out->group = "";
    if (streq(word, "apis"))
        out->group = strtok_r(NULL, "/", &save);
    (void)strtok_r(NULL, "/", &save); /* the version */
    word = strtok_r(NULL, "/", &save);
    if (word && streq(word, "namespaces")) {
        char *ns = strtok_r(NULL, "/", &save), *resource = strtok_r(NULL, "/", &save);
        if (!resource) {
            out->resource = word;
            out->name = ns;
            return;
        }
        out->ns = ns;
        word = resource;
    }
    out->resource = word;
    out->name = strtok_r(NULL, "/", &save);
    out->sub = out->name ? strtok_r(NULL, "/", &save) : NULL;
}

enum chaos_kind chaos_kind(const char *method, const char *path, const struct chaos_target *t) {
    bool pods = str_same(t->resource, "pods"), nodes = str_same(t->resource, "nodes");
    if (streq(method, "GET")) {
        const char *query = strchr(path, '?');
        return query && strstr(query, "watch=1") ? CHAOS_WATCH : t->name ? CHAOS_GET : CHAOS_LIST;
    }
    if (streq(method, "POST") && pods && str_same(t->sub, "eviction"))
        return CHAOS_EVICT;
    if (streq(method, "DELETE") && pods)
        return CHAOS_DELETE_POD;
    if (str_same(t->resource, "configmaps"))
        return CHAOS_PATCH_SLOTS;
    if (str_same(t->resource, "leases"))
        return CHAOS_LEASE;
    if (str_same(t->resource, "maintenances"))
        return CHAOS_PATCH_MAINTENANCE;
    if (streq(method, "PATCH"))
        return !nodes                       ? CHAOS_PATCH_OTHER
               : str_same(t->sub, "status") ? CHAOS_PATCH_STATUS
                                            : CHAOS_PATCH_NODE;
    if (streq(method, "POST") && str_same(t->resource, "events"))
        return CHAOS_EVENT;
    return CHAOS_OTHER;
}
