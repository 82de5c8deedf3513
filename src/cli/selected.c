/* What a selector takes: not the control plane, unless somebody has asked for it. */
#include "cli/selected.h"

#include "base/mem.h"
#include "base/nodeset.h"
#include "cli/verb.h"
#include "model/selector.h"

/* Those that node_is_control_plane() knows. */
static const char *const roles[] = {"node-role.kubernetes.io/control-plane",
                                    "node-role.kubernetes.io/master"};

static bool is_role(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (streq(key, roles[i]))
            return true;
    return false;
}

void selected_init(struct selected *s, const char *selector, bool include) {
    _cleanup_selector_ struct selector parsed = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    *s = (struct selected){.all = include};
    if (!selector || selector_parse(selector, &parsed, &err))
        return;
    /* One that excludes the role (!role) selects no such node anyway. */
    for (size_t i = 0; i < list_len(parsed.list); i++)
        s->all |= is_role(parsed.list[i].key);
}

bool selected_takes(struct selected *s, const struct node *node) {
    if (s->all || !node_is_control_plane(node))
        return true;
    *vec_push(&s->left) = node->meta.name;
    return false;
}

void selected_end(struct selected *s, struct cli *cli) {
    if (s->left.len) {
        _cleanup_str_ struct str set = STR_INIT;
        nodeset_fold(s->left.p, s->left.len, &set);
        cli_note(cli, "%s %s left out, being of the control plane: --include-control-plane",
                 str_get(&set), s->left.len == 1 ? "is" : "are");
    }
    vec_done(&s->left);
}
