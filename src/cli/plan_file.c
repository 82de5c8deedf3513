/* A plan that was saved, and what has changed since. */
#include "cli/plan_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"

enum { FILE_MAX = 512 << 20 };

#define SCHEMA_NAME  "slipway.plan/"
#define SCHEMA_MAJOR "1."

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
                              .code = text_of(arena, blocker, "code"),
                              .object = text_of(arena, blocker, "object")};
    return *out->name && *out->uid && *out->verdict ? 0 : -1;
}

static int read_node(struct arena *arena, const json_t *v, struct saved_node *out) {
    const json_t *pods = json_object_get(v, "pods");
    size_t n = json_array_size(pods);
    *out = (struct saved_node){.name = text_of(arena, v, "name"),
                               .uid = text_of(arena, v, "uid"),
                               .verdict = text_of(arena, v, "verdict"),
                               .pods = arena_alloc(arena, (n + 1) * sizeof *out->pods),
                               .n_pods = n};
    for (size_t i = 0; i < n; i++)
        if (read_pod(arena, json_array_get(pods, i), &out->pods[i]))
            return -1;
    return *out->name && json_is_array(pods) ? 0 : -1;
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
    return 0;
}

int plan_file_read(const char *path, struct arena *arena, struct plan_file *out, struct err *err) {
    _cleanup_free_ char *text = NULL;
    size_t len;
    bool in = streq(path, "-");
    int rc = file_read(in ? "/dev/stdin" : path, FILE_MAX, &text, &len, err);
    return rc ? rc : plan_file_parse(text, len, in ? "standard input" : path, arena, out, err);
}

/* --- comparing --- */

static const struct plan_node *node_now(const struct plan *p, const char *name) {
    for (size_t i = 0; i < p->n; i++)
        if (streq(p->nodes[i].name, name))
            return &p->nodes[i];
    return NULL;
}

static int order(const struct saved_pod *a, const struct plan_pod *b) {
    int c = strcmp(a->ns, strna(b->pod->meta.ns));
    return c ? c : strcmp(a->name, strna(b->pod->meta.name));
}

static bool stays(const char *verdict) {
    return streq(verdict, plan_verdict_word(PLAN_STAYS));
}

/* That it goes at once or a little later is no change: budgets come and go all the time. */
static const char *means(const char *verdict) {
    bool goes = streq(verdict, plan_verdict_word(PLAN_GOES)) ||
                streq(verdict, plan_verdict_word(PLAN_WAITS));
    return goes ? "drains" : verdict;
}

static void add_why(const struct plan_pod *p, struct str *out) {
    if (p->verdict > PLAN_GOES)
        str_addf(out, " (%s %s: %s)", blocker_row(p->blocker.code)->name, p->blocker.object,
                 p->blocker.message);
}

static size_t pod_changed(const struct saved_pod *a, const struct plan_pod *b, const char *node,
                          struct str *out) {
    const char *now = plan_verdict_word(b->verdict);
    if (!streq(a->uid, strna(b->pod->meta.uid)) && !(stays(a->verdict) && stays(now))) {
        str_addf(out, "~ pod %s/%s on %s is another one\n", a->ns, a->name, node);
        return 1;
    }
    if (streq(means(a->verdict), means(now)))
        return 0;
    str_addf(out, "~ pod %s/%s on %s: %s, was %s", a->ns, a->name, node, now, a->verdict);
    add_why(b, out);
    str_addc(out, '\n');
    return 1;
}

static size_t pods_changed(const struct saved_node *a, const struct plan_node *b, struct str *out) {
    size_t i = 0, k = 0, n = 0;
    while (i < a->n_pods || k < b->n_pods) {
        int c = i == a->n_pods ? 1 : k == b->n_pods ? -1 : order(&a->pods[i], &b->pods[k]);
        if (c < 0) {
            const struct saved_pod *p = &a->pods[i++];
            if (stays(p->verdict))
                continue;
            str_addf(out, "- pod %s/%s on %s is gone\n", p->ns, p->name, a->name);
            n++;
        } else if (c > 0) {
            const struct plan_pod *p = &b->pods[k++];
            if (p->verdict == PLAN_STAYS)
                continue;
            str_addf(out, "+ pod %s/%s on %s: %s", strna(p->pod->meta.ns), p->pod->meta.name,
                     a->name, plan_verdict_word(p->verdict));
            add_why(p, out);
            str_addc(out, '\n');
            n++;
        } else {
            n += pod_changed(&a->pods[i++], &b->pods[k++], a->name, out);
        }
    }
    return n;
}

size_t plan_file_compare(const struct plan_file *f, const struct plan *now, struct str *out) {
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct saved_node *a = &f->nodes[i];
        const struct plan_node *b = node_now(now, a->name);
        if (!b || !streq(a->uid, strna(b->node->meta.uid))) {
            str_addf(out, "- node %s %s\n", a->name, b ? "is another one" : "is gone");
            n++;
            continue;
        }
        n += pods_changed(a, b, out);
    }
    return n;
}

bool plan_file_foreign(const struct plan_file *f, const struct plan *now) {
    for (size_t i = 0; i < f->n; i++) {
        const struct plan_node *b = node_now(now, f->nodes[i].name);
        if (b && streq(f->nodes[i].uid, strna(b->node->meta.uid)))
            return false;
    }
    return true;
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

/* Those that are there: what is missing is a change, and no error. */
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

static int plan_again(struct cli *cli, struct saved_plan *s) {
    struct drain_args args;
    struct planning_run r;
    int rc = drain_args_parse(cli, &s->flags, (int)s->file.n, (char **)s->names, &args);
    if (rc)
        return rc;
    rc = planning_make(cli, &s->flags, &args, true, &r);
    const char *server = rc ? "" : strna(r.session.conn.config->server);
    s->foreign = !rc && !streq(s->file.server, server) && plan_file_foreign(&s->file, &r.plan);
    if (s->foreign)
        s->n_changes +=
            tell(s, "~ the plan is of another cluster, %s; this is %s", s->file.server, server);
    if (!rc && s->file.edited)
        s->n_changes += tell(s, "~ the plan was edited after it was saved");
    if (!rc && !streq(s->file.rules, args.rules_id))
        s->n_changes += tell(s, "~ the rules in %s are others", strna(s->flags.rules));
    if (!rc) {
        s->n_changes += plan_file_compare(&s->file, &r.plan, &s->changes);
        s->busy = find_busy(cli, s, r.picture.cluster.nodes);
    }
    planning_done(&r, &args);
    drain_args_done(&args);
    return rc;
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
    return plan_again(cli, s);
}

void saved_plan_done(struct saved_plan *s) {
    str_done(&s->changes);
}
