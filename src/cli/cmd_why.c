/* The verb `why`: why a node is not drained or a pod does not go, and what would help. */
#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/checks_read.h"
#include "cli/verb.h"
#include "cli/why_read.h"
#include "cli/why_show.h"

struct why_opts {
    struct connection_opts connection;
    struct document_opts output;
    bool room;
};

enum {
    ROUNDS = 12, /* of reading: a chain has half a dozen links */
};

/* --- what is meant --- */

enum aim_kind { AIM_ANY, AIM_NODE, AIM_POD };

struct aim {
    enum aim_kind kind;
    const char *ns; /* of pods; NULL: that of the connection */
    const char *name;
};

/* "node/" in any of its spellings. */
static const char *after_kind(const char *text, const struct kind *kind, const char *brief) {
    const char *slash = strchr(text, '/');
    if (!slash)
        return NULL;
    struct view word = {text, (size_t)(slash - text)};
    bool same =
        view_eq(word, view_of(kind->resource)) || view_eq(word, view_of(brief)) ||
        (word.len + 1 == strlen(kind->resource) && strncmp(text, kind->resource, word.len) == 0);
    return same ? slash + 1 : NULL;
}

/* What all objects are called that are asked about here: so no request is made for what would be
 * another path. */
static bool can_be_name(const char *name) {
    size_t len = strlen(name);
    return len && len <= NODESET_NAME_MAX && !strstr(name, "..") &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len && name[0] != '-' &&
           name[0] != '.' && name[len - 1] != '-' && name[len - 1] != '.';
}

static int refuse_name(struct cli *cli, const struct aim *aim) {
    bool ns = aim->ns && !can_be_name(aim->ns);
    return cli_fail(cli, EXIT_FAILED,
                    "there is no %s \"%s\": names are of lower case letters and digits, with \"-\" "
                    "and \".\" between them",
                    ns                      ? "namespace"
                    : aim->kind == AIM_NODE ? "node"
                    : aim->kind == AIM_POD  ? "pod"
                                            : "node, and no pod,",
                    ns ? aim->ns : aim->name);
}

static int parse(struct cli *cli, const char *text, struct aim *out) {
    const char *node = after_kind(text, &kind_node, "no");
    const char *pod = after_kind(text, &kind_pod, "po");
    const char *rest = node ? node : pod ? pod : text;
    const char *slash = strchr(rest, '/');
    *out = (struct aim){node ? AIM_NODE : pod || slash ? AIM_POD : AIM_ANY, NULL, rest};
    if (slash) {
        out->ns = arena_strndup(&cli->arena, rest, (size_t)(slash - rest));
        out->name = slash + 1;
    }
    if (!*out->name || (out->ns && !*out->ns) || (node && slash) || strchr(out->name, '/'))
        return cli_usage(cli,
                         "\"%s\" names neither a node (NODE, node/NODE) nor a pod (POD, "
                         "NAMESPACE/POD, pod/NAMESPACE/POD)",
                         text);
    if ((out->ns && !can_be_name(out->ns)) || !can_be_name(out->name))
        return refuse_name(cli, out);
    return 0;
}

/* --- names that are not there --- */

typedef VEC(const char *) names;

/* What there is, for "did you mean"; a list that may not be read is none. Pods of one namespace are
 * named without it. */
static int list_names(struct why_reader *r, const struct kind *kind, const char *ns,
                      const char *fields, names *out) {
    struct arena *arena = &r->session->cli->arena;
    size_t n;
    struct store *store = store_new(kind, r->session->conn.client.pool);
    int rc = why_reader_list(r, kind, ns, fields, store);
    _cleanup_free_ const struct object **all = store_sorted(store, &n);
    for (size_t i = 0; i < n; i++) {
        const struct meta *m = &all[i]->meta;
        *vec_push(out) = m->ns && !ns ? arena_printf(arena, "%s/%s", m->ns, strna(m->name))
                                      : arena_printf(arena, "%s", strna(m->name));
    }
    store_free(store);
    return rc;
}

/* "deploy/web" was read as a pod of namespace deploy, of which there is none. */
static bool is_other_kind(const char *word) {
    static const char *const words[] = {
        "deployment", "deployments", "deploy",    "statefulset", "statefulsets",
        "sts",        "daemonset",   "ds",        "daemonsets",  "replicaset",
        "rs",         "replicasets", "job",       "jobs",        "pdb",
        "pvc",        "service",     "svc",       "services",    "poddisruptionbudget",
        "cronjob",    "cronjobs",    "namespace", "namespaces",  "poddisruptionbudgets",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (streq(word, words[i]))
            return true;
    return false;
}

static int tell_unknown(struct why_reader *r, const struct aim *aim, const char *ns) {
    struct cli *cli = r->session->cli;
    names found = VEC_INIT;
    _cleanup_str_ struct str list = STR_INIT;
    int rc = 0;
    if (aim->kind != AIM_POD)
        rc = list_names(r, &kind_node, NULL, NULL, &found);
    if (!rc && aim->kind != AIM_NODE)
        rc = list_names(r, &kind_pod, ns, NULL, &found);
    suggest_list(&list, aim->name, found.p, found.len);
    bool found_any = found.len > 0;
    vec_done(&found);
    if (rc)
        return rc;
    if (aim->kind == AIM_POD && is_other_kind(ns) && !found_any)
        return cli_usage(cli, "%s/%s cannot be asked about: name a node, or one of its pods", ns,
                         aim->name);
    if (aim->kind == AIM_NODE)
        return cli_fail(cli, EXIT_FAILED, "there is no node \"%s\" (there are %s)", aim->name,
                        str_get(&list));
    return cli_fail(cli, EXIT_FAILED, "there is no %spod \"%s\" in namespace %s (there are %s)",
                    aim->kind == AIM_ANY ? "node, and no " : "", aim->name, ns, str_get(&list));
}

/* There is none of that name: in another namespace, perhaps? */
static int look_elsewhere(struct why_reader *r, struct aim *aim, const char *ns) {
    struct cli *cli = r->session->cli;
    names found = VEC_INIT;
    _cleanup_str_ struct str list = STR_INIT;
    _cleanup_free_ char *fields = xasprintf("metadata.name=%s", aim->name);
    int rc = 0;
    /* What means something in a selector is in no name. */
    if (aim->kind == AIM_ANY && !strpbrk(aim->name, ",=!\\"))
        rc = list_names(r, &kind_pod, NULL, fields, &found);
    if (!rc && found.len == 1) {
        const char *slash = strchr(found.p[0], '/');
        aim->kind = AIM_POD;
        aim->ns = arena_strndup(&cli->arena, found.p[0], (size_t)(slash - found.p[0]));
    } else if (!rc && found.len) {
        suggest_list(&list, NULL, found.p, found.len);
        rc = cli_usage(cli, "there are pods \"%s\" in several namespaces: %s", aim->name,
                       str_get(&list));
    } else if (!rc) {
        rc = tell_unknown(r, aim, ns);
    }
    vec_done(&found);
    return rc;
}

static int refuse_pod(struct why_reader *r, const struct aim *aim, const char *ns) {
    int rc = why_reader_refuse(r, &kind_pod, ns, aim->name);
    if (is_other_kind(ns))
        cli_advise(r->session->cli,
                   "%s/%s was read as a pod and its namespace: name a node, or one of its pods", ns,
                   aim->name);
    return rc;
}

/* Decides between a node and a pod of that name. Somebody who may read only one of them means
 * that. */
static int resolve(struct why_reader *r, const struct connection_opts *o, struct aim *aim) {
    const char *ns = aim->ns ? aim->ns : r->session->conn.config->ns;
    enum known node = KNOWN_GONE, pod = KNOWN_GONE;
    int rc = 0;
    if (aim->kind != AIM_NODE)
        rc = why_reader_look(r, &kind_pod, ns, aim->name, &pod);
    /* Whoever names a namespace means a pod, if there is one. */
    bool sure = pod == KNOWN_THERE && !str_empty(o->flags.ns);
    if (!rc && aim->kind != AIM_POD && !sure)
        rc = why_reader_look(r, &kind_node, NULL, aim->name, &node);
    if (rc)
        return rc;
    if (node == KNOWN_THERE && pod == KNOWN_THERE)
        return cli_usage(r->session->cli, "\"%s\" is a node and a pod: write node/%s, or pod/%s/%s",
                         aim->name, aim->name, ns, aim->name);
    if (node == KNOWN_THERE || pod == KNOWN_THERE) {
        aim->kind = node == KNOWN_THERE ? AIM_NODE : AIM_POD;
        aim->ns = ns;
        return 0;
    }
    if (aim->kind == AIM_ANY && (pod == KNOWN_NEVER || node == KNOWN_NEVER))
        return why_reader_refuse_any(r, ns, aim->name);
    if (pod == KNOWN_NEVER)
        return refuse_pod(r, aim, ns);
    if (node == KNOWN_NEVER)
        return why_reader_refuse(r, &kind_node, NULL, aim->name);
    return look_elsewhere(r, aim, ns);
}

/* --- the answer --- */

static int answer(struct why_reader *r, const struct aim *aim, struct arena *arena,
                  struct why *out) {
    int rc = 0;
    for (int i = 0; i < ROUNDS && !rc; i++) {
        r->world.now = session_now(r->session); /* which is known once something was read */
        if (aim->kind == AIM_NODE)
            why_node(&r->world, aim->name, arena, out);
        else
            why_pod(&r->world, aim->ns, aim->name, arena, out);
        if (out->complete)
            break;
        rc = why_reader_read(r);
    }
    if (!rc && !out->found)
        return cli_fail(r->session->cli, EXIT_FAILED, "%s %s is gone", out->kind, out->name);
    return rc;
}

/* What storage and quorums say, once the node is known. */
static int ask_checks(struct why_reader *r, struct checks_read *checks, const struct aim *aim,
                      struct arena *arena, struct why *out) {
    checks_read(checks, r->session,
                &(struct checks_read_opts){.pods = out->no_pods ? NULL : r->world.pods});
    if (!checks_feed_any(checks->feed))
        return 0;
    r->world.checks = checks->world;
    return answer(r, aim, arena, out);
}

static int print(struct cli *cli, const struct why_opts *o, const struct why *why, int64_t now) {
    if (!output_is_document(&o->output.format)) {
        why_print(&cli->out, why, cli->prog, now);
        return EXIT_DONE;
    }
    _cleanup_str_ struct str json = STR_INIT;
    why_json(&json, why);
    return cli_print_document(cli, &json, &o->output.format, true);
}

static int run_session(struct session *s, const struct why_opts *o, struct aim *aim) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct why_reader reader;
    struct checks_read checks = CHECKS_READ_INIT;
    struct why why;
    why_reader_init(&reader, s);
    reader.world.room = o->room;
    int rc = resolve(&reader, &o->connection, aim);
    if (!rc)
        rc = answer(&reader, aim, &arena, &why);
    if (!rc && aim->kind == AIM_NODE)
        rc = ask_checks(&reader, &checks, aim, &arena, &why);
    if (!rc)
        rc = print(s->cli, o, &why, reader.world.now);
    if (!rc && why.state != WHY_FREE)
        rc = EXIT_BLOCKED;
    checks_read_done(&checks);
    why_reader_done(&reader);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct why_opts *o = cli->opts;
    struct session session;
    struct aim aim;
    (void)argc;
    int rc = parse(cli, argv[0], &aim);
    if (rc)
        return rc;
    rc = session_open(cli, &o->connection, &session);
    if (rc)
        return rc;
    rc = run_session(&session, o, &aim);
    session_close(&session);
    return rc;
}

static const struct option_group own_options = {
    "Options",
    (const struct option[]){{.name = "room",
                             .kind = OPTION_FLAG,
                             .offset = offsetof(struct why_opts, room),
                             .help = "Look also whether the pods of the node would find room on "
                                     "other nodes. Reads all pods of the cluster"},
                            {0}}};

const struct verb verb_why = {
    .name = "why",
    .summary = "Tell why a node is not drained or a pod does not go",
    .args = "NODE|POD",
    .text =
        "Follows the chain of causes: from the node to the pods that do not go, from these to the "
        "PodDisruptionBudget with its numbers, from there to the replicas that are not healthy and "
        "to what is wrong with them, such as the scheduler's message, an image or a crash; and "
        "lists what would help, the least risky first, with commands. Nothing is changed.\n"
        "\n"
        "Of a node that nobody drains it tells what a drain would meet; whether its pods find room "
        "elsewhere only with --room. Of a pod it tells why it "
        "cannot be evicted or is not ready, and which drains wait for it.\n"
        "\n"
        "A pod is given as POD (in the namespace of -n or of the context), NAMESPACE/POD or "
        "pod/NAMESPACE/POD, a node as NODE or node/NODE. It ends in 3 when something is in the "
        "way, or when a drain would leave a pod without a place (the others only as far as --room "
        "looks), and in 0 else: as 'plan --detailed-exitcode' tells 3 from 2.",
    .examples = {{"Why does the drain of w1 not end, or what would a drain meet?", "why w1"},
                 {"Why is this pod not ready, and who waits for it?", "why shop/web-7c9d-x2x"},
                 {"The same for a program", "why node/w1 -o json"}},
    .options =
        (const struct verb_options[]){{&own_options, 0},
                                      {&document_options, offsetof(struct why_opts, output)},
                                      {&connection_options, offsetof(struct why_opts, connection)},
                                      {0}},
    .opts_size = sizeof(struct why_opts),
    .answers = true,
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"explain", "drain", NULL},
    .run = run,
};
