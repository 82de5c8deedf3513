/* Which nodes, as whom, why, and whether for real. */
#include "cli/target.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/nodeset.h"
#include "base/str.h"
#include "cli/identity.h"
#include "cli/patient.h"
#include "cli/refusal.h"
#include "cli/selected.h"
#include "cli/verb.h"
#include "model/selector.h"

enum {
    READ_ONE_BY_ONE = 8, /* nodes; more are cheaper to list than to ask for */
};

/* --- options --- */

int target_parse_dry_run(const char *text, struct arena *arena, void *field, struct err *err) {
    static const struct {
        const char *word;
        enum dry_run means;
    } words[] = {
        {"none", DRY_RUN_NONE},        {"client", DRY_RUN_CLIENT}, {"server", DRY_RUN_SERVER},
        {"unchanged", DRY_RUN_CLIENT}, /* kubectl's word for the bare flag */
        {"true", DRY_RUN_CLIENT},      {"false", DRY_RUN_NONE},    {"1", DRY_RUN_CLIENT},
        {"0", DRY_RUN_NONE},           {"t", DRY_RUN_CLIENT},      {"f", DRY_RUN_NONE},
        {"T", DRY_RUN_CLIENT},         {"F", DRY_RUN_NONE},        {"TRUE", DRY_RUN_CLIENT},
        {"FALSE", DRY_RUN_NONE},       {"True", DRY_RUN_CLIENT},   {"False", DRY_RUN_NONE},
    };
    (void)arena;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (streq(text, words[i].word)) {
            *(int *)field = words[i].means;
            return 0;
        }
    return err_set(err, EINVAL,
                   "Invalid dry-run value (%s). Must be \"none\", \"server\", or \"client\".",
                   text);
}

const char *target_dry_run_suffix(enum dry_run dry_run) {
    return dry_run == DRY_RUN_CLIENT   ? " (dry run)"
           : dry_run == DRY_RUN_SERVER ? " (server dry run)"
                                       : "";
}

const char *const target_dry_run_words[] = {"none", "client", "server", NULL};

#define FIELD(member) offsetof(struct target_opts, member)
static const struct option target_rows[] = {
    SELECTED_OPTION(FIELD(control_plane)),
    {.name = "selector",
     .letter = 'l',
     .kind = OPTION_STRING,
     .offset = FIELD(selector),
     .arg = "SELECTOR",
     .help = "The nodes that have these labels, instead of names: key=value,key!=value,"
             "key in (a,b),!key"},
    TARGET_DRY_RUN_ROW(FIELD(dry_run)),
    {.name = "reason",
     .kind = OPTION_STRING,
     .offset = FIELD(reason),
     .arg = "TEXT",
     .env = "SLIPWAY_REASON",
     .help = "Why, for those who find the node cordoned: a ticket, a sentence"},
    {.name = "holder",
     .kind = OPTION_STRING,
     .offset = FIELD(holder),
     .arg = "NAME",
     .env = "SLIPWAY_HOLDER",
     .help = "Hold the node under this name instead of cli/USER, for a team or a script"},
    {0}};
#undef FIELD

const struct option_group target_options = {"Target options", target_rows};
const struct option_group target_back_options = {"Target options", target_rows + 1};
const struct option_group target_how_options = {"Target options", target_rows + 2};

/* --- names --- */

/* As kubectl ends a usage error. */
static int usage(struct cli *cli, const char *message) {
    int code = cli_fail(cli, EXIT_USAGE, "%s", message);
    term_printf(&cli->err, "See '%s %s -h' for help and examples\n", cli->prog, cli->verb->name);
    term_flush(&cli->err);
    return code;
}

static uint32_t name_hash(const void *entry) {
    return hash_bytes(entry, strlen(entry));
}

static bool name_equal(const void *entry, const void *key) {
    return streq(entry, key);
}

static const struct htab_ops name_ops = {name_hash, name_equal};

static void add_name(struct target *t, struct htab *seen, const char *name, bool from_set) {
    if (htab_find(seen, name_hash(name), name))
        return;
    htab_insert(seen, (void *)name);
    *vec_push(&t->names) = name;
    *vec_push(&t->from_set) = from_set;
}

static bool is_node_type(const char *type, size_t len) {
    static const char *const types[] = {"node", "nodes", "no", "node.v1.", "nodes.v1."};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strlen(types[i]) == len && !strncasecmp(type, types[i], len))
            return true;
    return false;
}

/* What no path may have in it: IsValidPathSegmentName() of apimachinery. */
static int check_name(struct cli *cli, const char *name) {
    if (streq(name, ".") || streq(name, ".."))
        return cli_fail(cli, EXIT_USAGE, "invalid resource name \"%s\": [may not be '%s']", name,
                        name);
    if (strchr(name, '%'))
        return cli_fail(cli, EXIT_USAGE, "invalid resource name \"%s\": [may not contain '%%']",
                        name);
    return 0;
}

/* The slash of TYPE/NAME or NULL; that of a node set's steps, w[0-8/2], is none. */
static const char *find_slash(const char *text) {
    return memchr(text, '/', strcspn(text, "["));
}

/* kubectl's TYPE/NAME. It looks at how all are written before it asks what they are, and has
 * another sentence for nodes beside other things than for other things alone. */
static int check_types(struct cli *cli, int argc, char **argv) {
    const char *other = NULL;
    bool nodes = false;
    for (int i = 0; i < argc; i++) {
        const char *slash = find_slash(argv[i]);
        if (slash && find_slash(slash + 1))
            return cli_fail(cli, EXIT_USAGE,
                            "arguments in resource/name form may not have more than one slash");
        if (slash && (slash == argv[i] || !slash[1]))
            return cli_fail(cli, EXIT_USAGE,
                            "arguments in resource/name form must have a single resource and name");
        if (!slash || is_node_type(argv[i], (size_t)(slash - argv[i])))
            nodes = true;
        else if (!other)
            other = argv[i];
    }
    if (!other)
        return 0;
    if (nodes)
        return cli_fail(cli, EXIT_USAGE, "you may only specify a single resource type");
    return cli_fail(cli, EXIT_USAGE, "expected resource of type node, got \"%.*s\"",
                    (int)strcspn(other, "/"), other);
}

static int add_set(struct cli *cli, struct target *t, struct htab *seen, const char *text) {
    _cleanup_nodeset_ struct nodeset set = NODESET_INIT;
    _cleanup_nodeset_iter_ struct nodeset_iter it = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    const char *name;
    if (nodeset_parse(text, NULL, NULL, &set, &err))
        return cli_usage(cli, "%s", err_msg(&err));
    if (nodeset_empty(&set))
        return cli_fail(cli, EXIT_USAGE, "node set \"%s\" is empty", text);
    if (nodeset_count(&set) > NODESET_EXPAND_MAX)
        return cli_fail(cli, EXIT_USAGE, "node set \"%s\" has more than %d nodes", text,
                        NODESET_EXPAND_MAX);
    it = nodeset_iter(&set);
    while ((name = nodeset_next(&it)))
        add_name(t, seen, arena_strndup(&cli->arena, name, strlen(name)), true);
    return 0;
}

static int add_argument(struct cli *cli, struct target *t, struct htab *seen, const char *arg) {
    const char *slash = find_slash(arg), *name = slash ? slash + 1 : arg;
    if (!*name)
        return cli_fail(cli, EXIT_USAGE, "resource name may not be empty");
    if (!strpbrk(name, "[](),!&^@")) { /* no name of a node has one of these */
        int rc = check_name(cli, name);
        if (!rc)
            add_name(t, seen, name, false);
        return rc;
    }
    return add_set(cli, t, seen, name);
}

static int parse_names(struct cli *cli, int argc, char **argv, struct target *t) {
    struct htab seen;
    int rc = check_types(cli, argc, argv);
    htab_init(&seen, &name_ops);
    for (int i = 0; !rc && i < argc; i++)
        rc = add_argument(cli, t, &seen, argv[i]);
    htab_done(&seen);
    return rc;
}

int target_parse(struct cli *cli, const struct target_opts *opts, int argc, char **argv,
                 struct target *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    *out = (struct target){.selector = opts->selector, .control_plane = opts->control_plane};
    if (!argc && !opts->selector) {
        _cleanup_free_ char *text = xasprintf("USAGE: %s NODE [flags]", cli->verb->name);
        return usage(cli, text);
    }
    if (argc && opts->selector)
        return usage(cli, "cannot specify both a node name and a --selector option");
    if (identity_check_reason(opts->reason, &err))
        return cli_error(cli, &err);
    if (opts->selector) {
        _cleanup_selector_ struct selector selector = {0};
        if (selector_parse(opts->selector, &selector, &err))
            out->doubt = arena_printf(&cli->arena, "--selector: %s", err_msg(&err));
        return 0;
    }
    int rc = parse_names(cli, argc, argv, out);
    if (rc)
        target_forget(out);
    return rc;
}

/* --- reading --- */

static int say_missing(struct cli *cli, const char *name) {
    return cli_refuse(cli, EXIT_FAILED, "Error from server (NotFound): nodes \"%s\" not found",
                      name);
}

/* What does not exist: names in kubectl's words, one line each, as they were given; those of node
 * sets together. */
struct missing {
    VEC(const char *) of_sets;
    int code;
};

static void add_missing(struct session *s, const struct target *t, size_t i, struct missing *m) {
    m->code = EXIT_FAILED;
    if (t->from_set.p[i])
        *vec_push(&m->of_sets) = t->names.p[i];
    else
        say_missing(s->cli, t->names.p[i]);
}

static int end_missing(struct session *s, struct missing *m) {
    if (m->of_sets.len) {
        _cleanup_str_ struct str set = STR_INIT;
        nodeset_fold(m->of_sets.p, m->of_sets.len, &set);
        say_missing(s->cli, str_get(&set));
    }
    if (m->of_sets.len > 1)
        cli_advise(s->cli, "%zu nodes of the node set do not exist", m->of_sets.len);
    vec_done(&m->of_sets);
    return m->code;
}

/* `name`: NULL for a list. */
static int fail(struct session *s, const struct patient *p, const char *name) {
    if (refusal_of_request(s, p, "get", "nodes", name))
        return (int)session_code(p->outcome);
    _cleanup_free_ char *text = name ? xasprintf("read node \"%s\"", name) : xstrdup("list nodes");
    return session_fail(s, text, p->outcome, p->message);
}

static int read_one_by_one(struct session *s, struct target *t) {
    struct missing missing = {0};
    int code = 0;
    for (size_t i = 0; !code && i < t->names.len; i++) {
        const char *name = t->names.p[i];
        struct patient p;
        patient_call(
            s, &(struct kube_op_spec){.kind = &kind_node, .name = name, .result = &kind_node}, &p);
        if (p.outcome == KUBE_OK) {
            t->nodes.p[i] = (struct node *)TAKE_PTR(p.obj);
            t->ahead = p.date ? p.date - loop_wall(s->loop) : 0;
        } else if (p.outcome == KUBE_NOT_FOUND || (p.outcome == KUBE_INVALID && !p.reason)) {
            /* The latter was not even sent: no node can have such a name. */
            add_missing(s, t, i, &missing);
        } else {
            code = fail(s, &p, name); /* the others would fare no better */
        }
        patient_done(s, &kind_node, &p);
    }
    int rc = end_missing(s, &missing);
    return code ? code : rc;
}

/* Lets the server say what is wrong with the selector. One that it takes, newer than we are, is
 * good. */
static int check_selector(struct session *s, const struct target *t) {
    _cleanup_str_ struct str query = STR_INIT;
    struct patient p;
    str_add(&query, "limit=1&labelSelector=");
    str_add_url(&query, t->selector);
    patient_call(s, &(struct kube_op_spec){.kind = &kind_node, .query = str_get(&query)}, &p);
    int code = 0;
    if (p.outcome == KUBE_INVALID) {
        code =
            cli_refuse(s->cli, EXIT_USAGE,
                       "Error from server (%s): Unable to find \"/v1, Resource=nodes\" that match "
                       "label selector \"%s\", field selector \"\": %s",
                       str_empty(p.reason) ? "BadRequest" : p.reason, t->selector, p.message);
        cli_advise(s->cli, "%s", t->doubt);
    } else if (p.outcome != KUBE_OK) {
        code = fail(s, &p, NULL);
    }
    patient_done(s, NULL, &p);
    return code;
}

/* What a server that failed again and again says about it: the list has told us no more than that.
 * Who asks once more hears it in full. */
static int ask_why(struct session *s, const struct target *t) {
    _cleanup_str_ struct str query = STR_INIT;
    struct patient p;
    str_add(&query, "limit=1");
    if (t->selector) {
        str_add(&query, "&labelSelector=");
        str_add_url(&query, t->selector);
    }
    patient_try(s, &(struct kube_op_spec){.kind = &kind_node, .query = str_get(&query)}, &p);
    int code = p.outcome == KUBE_OK
                   ? session_fail(s, "list nodes", s->unsaid.outcome, s->unsaid.message)
                   : fail(s, &p, NULL);
    patient_done(s, NULL, &p);
    return code;
}

static int read_list(struct session *s, struct target *t) {
    struct store *store =
        session_feed(s, &kind_node, &(struct session_feed){.label_selector = t->selector});
    int rc = session_sync(s);
    if (rc)
        return s->unsaid.message ? ask_why(s, t) : rc;
    if (t->selector) {
        size_t n;
        struct selected selected;
        _cleanup_free_ const struct object **all = store_sorted(store, &n);
        selected_init(&selected, t->selector, t->control_plane);
        for (size_t i = 0; i < n; i++) {
            if (!selected_takes(&selected, (const struct node *)all[i]))
                continue;
            struct object *node = object_copy(&kind_node, all[i]);
            *vec_push(&t->nodes) = (struct node *)node;
            *vec_push(&t->names) =
                arena_strndup(&s->cli->arena, node->meta.name, strlen(node->meta.name));
        }
        selected_end(&selected, s->cli);
        return 0;
    }
    struct missing missing = {0};
    for (size_t i = 0; i < t->names.len; i++) {
        const struct object *node = store_get(store, NULL, t->names.p[i]);
        if (node)
            t->nodes.p[i] = (struct node *)object_copy(&kind_node, node);
        else
            add_missing(s, t, i, &missing);
    }
    return end_missing(s, &missing);
}

static int read_nodes(struct session *s, struct target *t) {
    int rc = t->doubt ? check_selector(s, t) : 0;
    if (rc)
        return rc;
    if (t->selector || t->names.len > READ_ONE_BY_ONE)
        return read_list(s, t);
    return read_one_by_one(s, t);
}

void target_forget(struct target *t) {
    vec_done(&t->names);
    vec_done(&t->from_set);
}

int target_read(struct session *s, struct target *t) {
    for (size_t i = 0; i < t->names.len; i++)
        *vec_push(&t->nodes) = NULL;
    s->as_kubectl = true;
    int rc = read_nodes(s, t);
    s->as_kubectl = false;
    return rc;
}

void target_done(struct session *s, struct target *t) {
    for (size_t i = 0; i < t->nodes.len; i++)
        object_free(&kind_node, s->conn.client.pool, (struct object *)t->nodes.p[i]);
    vec_done(&t->nodes);
    target_forget(t);
}
