/* What a check found, for documents. */
#include "cli/finding_json.h"

#include "base/mem.h"
#include "base/str.h"

const char *finding_gate(size_t i, enum check_when *when) {
    static const struct {
        enum check_when when;
        const char *word;
    } gates[] = {{CHECK_CORDON, "cordon"}, {CHECK_OPERATION, "operation"}, {CHECK_RETURN, "next"}};
    if (i >= ARRAY_LEN(gates))
        return NULL;
    *when = gates[i].when;
    return gates[i].word;
}

bool finding_same(const struct check_finding *a, const struct check_finding *b) {
    return a->check == b->check && a->verdict == b->verdict && a->when == b->when &&
           a->code == b->code && str_same(a->kind, b->kind) && str_same(a->ns, b->ns) &&
           str_same(a->name, b->name) && str_same(a->evidence, b->evidence);
}

void finding_json(struct jsonw *w, const struct check_finding *f) {
    enum check_when when;
    const char *word;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "check", f->check->name);
    jsonw_kstr(w, "verdict", check_verdict_name(f->verdict));
    jsonw_kstr(w, "node", f->node);
    jsonw_kbegin(w, "before", '[');
    for (size_t i = 0; (word = finding_gate(i, &when)); i++)
        if (f->when & when)
            jsonw_str(w, word);
    jsonw_end(w);
    if (f->code != BLOCKER_CODES)
        jsonw_kstr(w, "code", blocker_row(f->code)->name);
    if (f->name) {
        jsonw_kbegin(w, "object", '{');
        jsonw_kopt(w, "kind", f->kind);
        jsonw_kopt(w, "namespace", f->ns);
        jsonw_kopt(w, "name", f->name);
        jsonw_end(w);
    }
    jsonw_kstr(w, "message", f->evidence);
    jsonw_kopt(w, "hint", f->hint);
    jsonw_kopt(w, "overWhen", f->ends);
    jsonw_end(w);
}
