/* From the flags of `drain` to what the engine wants: for the verbs that drain, plan or rehearse
 * one. */
#ifndef CLI_DRAIN_ARGS_H
#define CLI_DRAIN_ARGS_H

#include "cli/cli.h"
#include "cli/drain_flags.h"
#include "model/selector.h"

/* What the flags refer to. */
struct drain_args {
    struct target target;
    struct selector pods;
    struct rules *rules; /* NULL: the built-in ones */
    char rules_id[17];   /* of the text of the file; "" */
};

/* Reads the words of the command line and the file of rules. 0, or the exit code after having said
 * why. */
int drain_args_parse(struct cli *cli, const struct drain_flags *f, int argc, char **argv,
                     struct drain_args *out);
/* What `rules_id` would be; the file is not looked into any further. A negative errno and why. */
int drain_args_rules_id(const char *path, char out[17], struct err *err);
void drain_args_done(struct drain_args *w);

/* All but who holds the nodes and the seed. */
void drain_args_opts(const struct drain_flags *f, const struct drain_args *w,
                     struct drain_opts *out);

/* The flags that are not as they are by themselves, to be given again; "--force" and the like, to
 * be freed one by one. Without what says which nodes, which cluster, as whom, and what is shown. */
struct drain_args_list {
    char **p;
    size_t len, cap;
};
void drain_args_list_done(struct drain_args_list *l);
void drain_args_words(const struct drain_flags *f, struct drain_args_list *out);
/* The one among them that is as it is by itself: written down, because that may change. */
#define DRAIN_RATE_WORD "--eviction-rate=20"

#endif
