/* A plan that was saved, beside the cluster as it is now. */
#include "cli/plan_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/plan_server.h"

enum { FILE_MAX = 512 << 20 };

#define SCHEMA_NAME  "slipway.plan/"
#define SCHEMA_MAJOR "1."

#define EDITED "~ the plan was edited after it was saved"

/* --- reading --- */

/* What is shown has a line each: whoever wrote the file does not begin another. */
static const char *text_of(struct arena *arena, const json_t *obj, const char *key) {
    const char *s = strna(json_str(obj, key));
    char *copy = arena_strndup(arena, s, strlen(s));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return copy;
}

static int read_pod(struct arena *arena, const json_t *v, struct saved_pod *out) {
    const json_t *blocker = json_object_get(v, "blocker");
    *out = (struct saved_pod){.ns = text_of(arena, v, "namespace"),
                              .name = text_of(arena, v, "name"),
                              .uid = text_of(arena, v, "uid"),
                              .verdict = text_of(arena, v, "verdict"),
                              .owner = text_of(arena, v, "owner"),
                              .message = text_of(arena, blocker, "message")};
    return *out->name && *out->uid && *out->verdict ? 0 : -1;
}

static int read_findings(struct arena *arena, const json_t *list, struct saved_node *out) {
    out->n_findings = json_array_size(list);
    out->findings = arena_alloc(arena, (out->n_findings + 1) * sizeof *out->findings);
    for (size_t i = 0; i < out->n_findings; i++) {
        const json_t *v = json_array_get(list, i);
        out->findings[i] = (struct saved_finding){.check = text_of(arena, v, "check"),
                                                  .verdict = text_of(arena, v, "verdict")};
        if (!*out->findings[i].check)
            return -1;
    }
    return 0;
}

static int read_node(struct arena *arena, const json_t *v, struct saved_node *out) {
    const json_t *pods = json_object_get(v, "pods");
    size_t n = json_array_size(pods);
    *out = (struct saved_node){.name = text_of(arena, v, "name"),
                               .uid = text_of(arena, v, "uid"),
                               .verdict = text_of(arena, v, "verdict"),
                               .code = text_of(arena, json_object_get(v, "blocker"), "code"),
                               .pods = arena_alloc(arena, (n + 1) * sizeof *out->pods),
                               .n_pods = n};
    for (size_t i = 0; i < n; i++)
        if (read_pod(arena, json_array_get(pods, i), &out->pods[i]))
            return -1;
    if (read_findings(arena, json_object_get(v, "checks"), out))
        return -1;
    return *out->name && json_is_array(pods) ? 0 : -1;
}

/* Plans of version 1.0 had none. */
static int read_budgets(struct arena *arena, const json_t *list, struct plan_file *out) {
    out->has_budgets = list;
    out->n_budgets = json_array_size(list);
    out->budgets = arena_alloc(arena, (out->n_budgets + 1) * sizeof *out->budgets);
    for (size_t i = 0; i < out->n_budgets; i++) {
        const json_t *v = json_array_get(list, i);
        out->budgets[i] = (struct plan_budget){
            .name = text_of(arena, v, "name"),
            .rule = text_of(arena, v, "rule"),
            .selector = text_of(arena, v, "selector"),
            .unhealthy = text_of(arena, v, "unhealthyPodEvictionPolicy"),
            .needs = (int32_t)json_integer_value(json_object_get(v, "needs")),
            .spare = PLAN_NO_COUNT,
        };
        if (!*out->budgets[i].name)
            return -1;
    }
    return !list || json_is_array(list) ? 0 : -1;
}

static int read_words(struct arena *arena, const json_t *list, struct plan_file *out) {
    size_t n = json_array_size(list);
    out->words = arena_alloc(arena, (n + 1) * sizeof *out->words);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(list, i));
        /* Flags, nothing else: what is drained are the nodes of the plan. */
        if (!s || !str_starts(s, "--") || !s[2])
            return -1;
        out->words[out->n_words++] = arena_strndup(arena, s, strlen(s));
    }
    return json_is_array(list) ? 0 : -1;
}

int plan_file_parse(const char *text, size_t len, const char *path, struct arena *arena,
                    struct plan_file *out, struct err *err) {
    json_error_t error;
    _cleanup_json_ json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    *out = (struct plan_file){0};
    if (!doc)
        return err_set(err, EINVAL, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    const char *schema = strna(json_str(doc, "schema"));
    if (!str_starts(schema, SCHEMA_NAME))
        return err_set(err, EINVAL, "%s: this is no plan: its schema is \"%s\", not \"%s\"", path,
                       schema, PLAN_SCHEMA);
    if (!str_starts(schema + strlen(SCHEMA_NAME), SCHEMA_MAJOR))
        return err_set(err, EINVAL,
                       "%s: the plan is of a version that this program does not know, %s; make it "
                       "anew",
                       path, schema);
    const char *operation = strna(json_str(doc, "operation")), *digest = json_str(doc, "digest");
    char now[17];
    if (!streq(operation, "drain"))
        return err_set(err, EINVAL, "%s: a plan to %s is nothing that this program can carry out",
                       path, *operation ? operation : "do nothing");
    plan_digest(doc, now);
    out->edited = !str_same(digest, now);
    out->rules = text_of(arena, doc, "rules");
    out->asked = json_is_true(json_object_get(doc, "serverAsked"));
    const json_t *nodes = json_object_get(doc, "nodes");
    size_t n = json_array_size(nodes);
    out->id = text_of(arena, doc, "id");
    out->server = text_of(arena, doc, "server");
    out->made = text_of(arena, doc, "made");
    out->nodes = arena_alloc(arena, (n + 1) * sizeof *out->nodes);
    out->n = n;
    if (!json_is_array(nodes) || read_words(arena, json_object_get(doc, "flags"), out))
        return err_set(err, EINVAL, "%s: the plan has no nodes or no flags", path);
    for (size_t i = 0; i < n; i++)
        if (read_node(arena, json_array_get(nodes, i), &out->nodes[i]))
            return err_set(err, EINVAL, "%s: node %zu of the plan is not complete", path, i + 1);
    if (read_budgets(arena, json_object_get(doc, "budgets"), out))
        return err_set(err, EINVAL, "%s: the budgets of the plan are not complete", path);
    return 0;
}

int plan_file_read(const char *path, struct arena *arena, struct plan_file *out, struct err *err) {
    _cleanup_free_ char *text = NULL;
    size_t len;
    bool in = streq(path, "-");
    int rc = file_read(in ? "/dev/stdin" : path, FILE_MAX, &text, &len, err);
    return rc ? rc : plan_file_parse(text, len, in ? "standard input" : path, arena, out, err);
}

/* --- beside the cluster as it is now --- */

/* The flags of the file are those of a drain, and are read as such. */
static int read_flags(struct cli *cli, const char *path, struct saved_plan *s) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct options_fault fault;
    struct option_set set = {0};
    int n_args = 0;
    char **words = arena_alloc(&cli->arena, (s->file.n_words + 1) * sizeof *words);
    memcpy(words, s->file.words, s->file.n_words * sizeof *words);
    option_set_add(&set, &drain_kubectl_options, &s->flags);
    option_set_add(&set, &drain_own_options, &s->flags);
    option_set_add(&set, &target_options, &s->flags.target);
    if (options_parse(&set, (int)s->file.n_words, words, cli->env, &cli->arena, &n_args, &fault,
                      &err))
        return cli_fail(cli, EXIT_USAGE, "%s: its flags: %s", path, err_msg(&err));
    s->flags.in_order = true;
    return 0;
}

__attribute__((format(printf, 2, 3))) static size_t tell(struct saved_plan *s, const char *fmt,
                                                         ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *line = xvasprintf(fmt, ap);
    va_end(ap);
    str_addf(&s->changes, "%s\n", line);
    return 1;
}

/* What has changed may be what another drain of the same nodes has done. */
static const char *find_busy(struct cli *cli, const struct saved_plan *s,
                             const struct store *nodes) {
    for (size_t i = 0; i < s->file.n; i++) {
        const struct object *node = store_get(nodes, NULL, s->file.nodes[i].name);
        const char *text = node ? drain_unended((const struct node *)node, &cli->arena) : NULL;
        if (text)
            return arena_printf(&cli->arena, "node %s: %s", s->file.nodes[i].name, text);
    }
    return NULL;
}

static size_t count_never(const struct plan *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->nodes[i].count[PLAN_NEVER];
    return n;
}

static struct drain_foreseen never(struct arena *arena, const char *node,
                                   const struct plan_pod *p) {
    return (struct drain_foreseen){.node = arena_printf(arena, "%s", node),
                                   .ns = arena_printf(arena, "%s", strna(p->pod->meta.ns)),
                                   .name = arena_printf(arena, "%s", p->pod->meta.name),
                                   .code = p->blocker.code,
                                   .object = arena_printf(arena, "%s", strna(p->blocker.object)),
                                   .message = arena_printf(arena, "%s", strna(p->blocker.message))};
}

/* What the plan calls never, for a drain that does nothing but say what it would do. */
static void foresee(struct arena *arena, const struct plan *p, struct drain_flags *out) {
    struct drain_foreseen *list = arena_alloc(arena, (count_never(p) + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_node *node = &p->nodes[i];
        for (size_t k = 0; k < node->n_pods; k++)
            if (node->pods[k].verdict == PLAN_NEVER)
                list[n++] = never(arena, node->name, &node->pods[k]);
    }
    qsort(list, n, sizeof *list, drain_foreseen_order);
    out->foreseen = list;
    out->n_foreseen = n;
}

static int plan_again(struct cli *cli, struct saved_plan *s) {
    struct drain_args args;
    struct planning_run r;
    int rc = drain_args_parse(cli, &s->flags, (int)s->file.n, (char **)s->names, &args);
    if (rc)
        return rc;
    rc = planning_make(cli, &s->flags, &args, true, NULL, &r);
    if (!rc && s->file.asked)
        rc = plan_ask_server(&r.session, &r.opts, &r.plan, &r.arena);
    const char *server = rc ? "" : strna(r.session.conn.config->server);
    s->foreign = !rc && !streq(s->file.server, server) && plan_file_foreign(&s->file, &r.plan);
    if (s->foreign)
        s->n_changes +=
            tell(s, "~ the plan is of another cluster, %s; this is %s", s->file.server, server);
    if (!rc && s->file.edited)
        s->n_changes += tell(s, EDITED);
    for (size_t i = 0; !rc && i < s->file.n; i++)
        s->gone[i] = !store_get(r.picture.cluster.nodes, NULL, s->names[i]);
    if (!rc) {
        s->n_changes +=
            plan_file_compare(&s->file, &r.plan, r.picture.cluster.budgets, &s->changes);
        s->busy = find_busy(cli, s, r.picture.cluster.nodes);
        foresee(&cli->arena, &r.plan, &s->flags);
    }
    planning_done(&r, &args);
    drain_args_done(&args);
    return rc;
}

/* Whoever knows how to make the digest anew can name any file: only one that is what the plan says
 * of it is looked into. */
static int check_rules(struct cli *cli, struct saved_plan *s) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *path = strna(s->flags.rules);
    char id[17] = "";
    if (*path && !s->file.edited && drain_args_rules_id(path, id, &err))
        return cli_fail(cli, EXIT_USAGE, "--rules: %s", err_msg(&err));
    bool others = !s->file.edited && !streq(s->file.rules, id);
    s->unread = others || (s->file.edited && *path);
    if (others)
        s->n_changes += tell(s, "~ the rules in %s are others", path);
    else if (s->unread)
        s->n_changes += tell(s, EDITED);
    return 0;
}

int saved_plan_check(struct cli *cli, const char *path, const struct connection_opts *connection,
                     struct saved_plan *s) {
    _cleanup_err_ struct err err = ERR_INIT;
    *s = (struct saved_plan){.changes = STR_INIT};
    if (!*path)
        return cli_usage(cli, "FILE is empty");
    if (plan_file_read(path, &cli->arena, &s->file, &err))
        return cli_fail(cli, EXIT_USAGE, "%s", err_msg(&err));
    if (!s->file.n)
        return cli_fail(cli, EXIT_USAGE, "%s: the plan has no nodes", path);
    int rc = read_flags(cli, path, s);
    if (rc)
        return rc;
    s->flags.connection = *connection;
    s->names = arena_alloc(&cli->arena, (s->file.n + 1) * sizeof *s->names);
    for (size_t i = 0; i < s->file.n; i++)
        s->names[i] = s->file.nodes[i].name;
    s->gone = arena_alloc(&cli->arena, (s->file.n + 1) * sizeof *s->gone);
    rc = check_rules(cli, s);
    return rc || s->unread ? rc : plan_again(cli, s);
}

void saved_plan_done(struct saved_plan *s) {
    str_done(&s->changes);
}
