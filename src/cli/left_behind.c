/* What a drain that was killed may have left behind, in words. */
#include "cli/left_behind.h"

#include "base/nodeset.h"
#include "base/shell.h"
#include "base/timefmt.h"
#include "engine/next_mark.h"

enum { NODES_SHOWN = 60 }; /* columns of a node set, in a line of text */

static void add_nodes(const struct survey_names *n, struct str *out) {
    _cleanup_str_ struct str folded = STR_INIT;
    nodeset_fold(n->p, n->len, &folded);
    if (folded.len <= NODES_SHOWN || n->len < 3)
        str_add(out, str_get(&folded));
    else
        str_addf(out, "%s and %zu more", n->p[0], n->len - 1);
}

void left_text(const struct survey_sum_left *l, int64_t now, struct str *out) {
    bool one = l->nodes.len == 1;
    char age[TIMEFMT_LEN];
    add_nodes(&l->nodes, out);
    if (l->what == LEFT_MARK) {
        str_addf(out,
                 " %s the mark " NEXT_TAINT
                 ": a drain that has not begun with %s yet keeps it, and "
                 "one that was killed leaves it",
                 one ? "has" : "have", one ? "it" : "them");
        return;
    }
    str_addf(out, ": nothing was heard of %s drain%s%s%s for %s", one ? "its" : "their",
             *l->holder ? " (" : "", l->holder, *l->holder ? ")" : "",
             duration_format(now - l->since, age));
}

void left_command(const struct survey_sum_left *l, const char *prog, struct str *out) {
    _cleanup_str_ struct str folded = STR_INIT;
    nodeset_fold(l->nodes.p, l->nodes.len, &folded);
    str_addf(out, "%s uncordon ", prog);
    shell_add(out, str_get(&folded));
    if (l->what == LEFT_DRAIN)
        str_add(out, " --any-holder");
}

const char *left_word(const struct survey_sum_left *l) {
    return l->what == LEFT_MARK ? "mark" : "drain";
}
