/* What a selector takes: not the control plane, unless somebody has asked for it.
 *
 * Names say which nodes are meant; a label says what they have in common, and the nodes that the
 * cluster itself runs on often have it, too. Such a node is left out of the set, which is said,
 * unless the selector asks for the role itself (-l node-role.kubernetes.io/control-plane) or
 * --include-control-plane is given.
 *
 *     struct selected s;
 *     selected_init(&s, selector, include);
 *     for each node that has the labels: if (selected_takes(&s, node)) ...
 *     selected_end(&s, cli); */
#ifndef CLI_SELECTED_H
#define CLI_SELECTED_H

#include "base/vec.h"
#include "cli/cli.h"
#include "model/object.h"

struct selected {
    bool all;
    VEC(const char *) left; /* out; the names are the nodes' own */
};

/* `selector`: NULL and what cannot be read ask for no role. */
void selected_init(struct selected *s, const char *selector, bool include);
bool selected_takes(struct selected *s, const struct node *node);
/* Says which were left out. */
void selected_end(struct selected *s, struct cli *cli);

/* --include-control-plane: a row of options whose field is a bool. */
#define SELECTED_OPTION(field)                                                                     \
    {                                                                                              \
        .name = "include-control-plane", .kind = OPTION_FLAG, .offset = (field),                   \
        .help = "Take the nodes of the control plane as well that a selector selects. Without "    \
                "it they are left out, unless the selector asks for their role, or they are named" \
    }

#endif
