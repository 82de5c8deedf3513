/* The verb `checks`: what storage systems, databases and quorums say to taking nodes away. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/nodeset.h"
#include "base/vec.h"
#include "cli/checks_read.h"
#include "cli/finding_json.h"
#include "cli/selected.h"
#include "cli/session.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "model/selector.h"

/* The name of the document that -o json and the like are made from. */
#define SCHEMA "slipway.checks/1.0"

struct checks_opts {
    struct connection_opts connection;
    struct output_opts output;
    int gate; /* enum check_when */
    bool control_plane;
};

/* --- asking --- */

/* What was found about the nodes, together or one by one. */
struct report {
    struct checks found;
    VEC(const char *) nodes;
    bool all; /* no node was named: each by itself */
};

static void ask(struct checks_read *r, const struct checks_opts *o, int64_t now,
                struct report *rep) {
    struct check_request req = {.alone = rep->all, .now = now};
    if (o->gate == CHECK_RETURN) {
        req.back = rep->nodes.p;
        req.n_back = rep->nodes.len;
    } else {
        req.going = rep->nodes.p;
        req.n_going = rep->nodes.len;
    }
    checks_read_out(r, &req);
    checks_run(r->world, &req, &r->arena, &rep->found);
}

/* --- the table --- */

static const struct table_column columns[] = {
    {"CHECK", false}, {"VERDICT", false}, {"NODES", false},    {"BEFORE", false}, {"FOUND", false},
    {"CODE", true},   {"OBJECT", true},   {"OVER WHEN", true}, {"TO DO", true},
};

static const enum state verdict_states[] = {
    [CHECK_PASS] = STATE_GOOD, [CHECK_WAIT] = STATE_WARN, [CHECK_DENY] = STATE_BAD};

static const char *gate_text(unsigned when, struct arena *arena) {
    _cleanup_str_ struct str s = STR_INIT;
    enum check_when gate;
    const char *word;
    for (size_t i = 0; (word = finding_gate(i, &gate)); i++)
        if (when & gate)
            str_addf(&s, "%s%s", s.len ? "," : "", word);
    return arena_strndup(arena, str_get(&s), s.len);
}

static void add_row(struct table *t, const struct check_finding *f, const char *nodes,
                    const char *found, struct arena *arena) {
    bool remark = f->verdict == CHECK_PASS && f->code != BLOCKER_CODES;
    table_row(t, arena_printf(arena, "check/%s", f->check->name));
    table_str(t, f->check->name);
    table_state(t, remark ? STATE_WARN : verdict_states[f->verdict],
                remark ? "remark" : check_verdict_name(f->verdict));
    table_str(t, nodes);
    table_str(t, gate_text(f->when, arena));
    table_str(t, found);
    table_str(t, f->code == BLOCKER_CODES ? NULL : blocker_row(f->code)->name);
    table_str(t, f->name ? arena_printf(arena, "%s %s/%s", f->kind, strna(f->ns), f->name) : NULL);
    table_str(t, f->ends);
    table_str(t, f->hint);
}

/* Those that pass without a remark are one row, whatever the numbers in their sentences; of one
 * node the row has all of them. */
static void add_passes(struct table *t, const struct report *rep, const struct check *check,
                       struct arena *arena) {
    VEC(const char *) nodes = VEC_INIT;
    const struct check_finding *any = NULL;
    bool one = true; /* node */
    _cleanup_str_ struct str evidence = STR_INIT;
    for (size_t i = 0; i < rep->found.n; i++) {
        const struct check_finding *f = &rep->found.list[i];
        if (f->check != check || f->verdict != CHECK_PASS || f->code != BLOCKER_CODES)
            continue;
        one = one && (!any || str_same(any->node, f->node));
        any = f;
        *vec_push(&nodes) = f->node;
        if (one)
            str_addf(&evidence, "%s%s", evidence.len ? "; " : "", f->evidence);
    }
    if (any) {
        _cleanup_str_ struct str folded = STR_INIT;
        nodeset_fold(nodes.p, nodes.len, &folded);
        add_row(t, any, str_get(&folded),
                one ? str_get(&evidence) : "nothing that stands in the way", arena);
    }
    vec_done(&nodes);
}

static void add_findings_of(struct table *t, const struct report *rep, const struct check *check,
                            struct arena *arena) {
    bool *shown = arena_alloc(arena, rep->found.n + 1);
    for (size_t i = 0; i < rep->found.n; i++) {
        const struct check_finding *f = &rep->found.list[i];
        if (shown[i] || f->check != check || (f->verdict == CHECK_PASS && f->code == BLOCKER_CODES))
            continue;
        VEC(const char *) nodes = VEC_INIT;
        for (size_t k = i; k < rep->found.n; k++)
            if (!shown[k] && finding_same(f, &rep->found.list[k])) {
                shown[k] = true;
                *vec_push(&nodes) = rep->found.list[k].node;
            }
        _cleanup_str_ struct str folded = STR_INIT;
        nodeset_fold(nodes.p, nodes.len, &folded);
        add_row(t, f, str_get(&folded), f->evidence, arena);
        vec_done(&nodes);
    }
}

static const char *presence_text(const struct check *check, const struct check_state *s,
                                 struct arena *arena) {
    const struct kind *kind = check_sources[check->reads[0].source].kind;
    if (s->presence == CHECK_NOT_INSTALLED)
        return check->by_objects ? "there are none" : "not installed";
    if (s->presence == CHECK_UNREADABLE)
        return "cannot be read";
    return arena_printf(arena, "%zu %s%s, nothing that concerns these nodes", s->objects,
                        kind->name, s->objects == 1 ? "" : "s");
}

static int print_table(struct session *s, const struct report *rep, const struct checks_opts *o,
                       struct arena *arena) {
    _cleanup_table_ struct table *t = table_new(columns, ARRAY_LEN(columns));
    table_fold(t);
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *c = &checks_table[i];
        bool any = false;
        for (size_t k = 0; k < rep->found.n; k++)
            any = any || rep->found.list[k].check == c;
        if (any) {
            add_findings_of(t, rep, c, arena);
            add_passes(t, rep, c, arena);
            continue;
        }
        bool there = rep->found.states[i].presence == CHECK_INSTALLED;
        table_row(t, arena_printf(arena, "check/%s", c->name));
        table_str(t, c->name);
        table_state(t, there ? STATE_GOOD : STATE_NONE, there ? "pass" : "-");
        table_str(t, "-");
        table_str(t, "-");
        table_str(t, presence_text(c, &rep->found.states[i], arena));
    }
    return cli_print_table(s->cli, t, &o->output, session_now(s));
}

/* --- documents --- */

static int print_document(struct session *s, const struct report *rep,
                          const struct checks_opts *o) {
    static const char *const states[] = {[CHECK_NOT_INSTALLED] = "notInstalled",
                                         [CHECK_INSTALLED] = "installed",
                                         [CHECK_UNREADABLE] = "unreadable",
                                         [CHECK_SKIPPED] = "skipped"};
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbool(&w, "together", !rep->all);
    jsonw_kbegin(&w, "checks", '[');
    for (size_t i = 0; i < n_checks; i++) {
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "name", checks_table[i].name);
        jsonw_kstr(&w, "state", states[rep->found.states[i].presence]);
        jsonw_kint(&w, "objects", (int64_t)rep->found.states[i].objects);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < rep->found.n; i++)
        finding_json(&w, &rep->found.list[i]);
    jsonw_end(&w);
    jsonw_end(&w);
    return cli_print_document(s->cli, &json, &o->output.format, o->output.no_headers);
}

/* --- the verb --- */

static int pick_nodes(struct session *s, const struct store *nodes, const struct checks_opts *o,
                      const struct target *t, struct report *rep) {
    _cleanup_selector_ struct selector selector = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = 0;
    if (o->output.selector && selector_parse(o->output.selector, &selector, &err))
        return cli_usage(s->cli, "--selector: %s", err_msg(&err));
    for (size_t i = 0; i < t->names.len; i++) {
        if (!store_get(nodes, NULL, t->names.p[i]))
            rc = cli_fail(s->cli, EXIT_FAILED, "there is no node \"%s\"", t->names.p[i]);
        *vec_push(&rep->nodes) = t->names.p[i];
    }
    if (rc || t->names.len)
        return rc;
    size_t n = 0;
    struct selected selected;
    _cleanup_free_ const struct object **all = store_sorted(nodes, &n);
    selected_init(&selected, o->output.selector, o->control_plane || !o->output.selector);
    for (size_t i = 0; i < n; i++)
        if ((!o->output.selector || requirements_match(selector.list, all[i]->meta.labels)) &&
            selected_takes(&selected, (const struct node *)all[i]))
            *vec_push(&rep->nodes) = all[i]->meta.name;
    selected_end(&selected, s->cli);
    return 0;
}

/* What the verdicts come to, where somebody has asked about certain nodes. */
static int judge(const struct report *rep, const struct checks_opts *o) {
    enum check_verdict worst =
        rep->all ? CHECK_PASS : check_worst(&rep->found, NULL, (enum check_when)o->gate);
    return worst == CHECK_DENY ? EXIT_REFUSED : worst == CHECK_WAIT ? EXIT_BLOCKED : EXIT_DONE;
}

static int run_session(struct session *s, const struct checks_opts *o, const struct target *t) {
    struct checks_read r = CHECKS_READ_INIT;
    struct report rep = {.all = !t->names.len && !o->output.selector};
    const struct store *nodes = session_feed(s, &kind_node, &(struct session_feed){0});
    int rc = session_sync(s);
    if (!rc)
        rc = pick_nodes(s, nodes, o, t, &rep);
    if (!rc && !rep.nodes.len) {
        cli_note(s->cli, "No nodes found"); /* as in plan: nothing that could be in the way */
    } else if (!rc) {
        checks_read(&r, s, &(struct checks_read_opts){.nodes = nodes, .remarks = true});
        ask(&r, o, cli_now(s->cli), &rep);
        rc = output_is_document(&o->output.format) ? print_document(s, &rep, o)
                                                   : print_table(s, &rep, o, &r.arena);
    }
    if (!rc)
        rc = judge(&rep, o);
    vec_done(&rep.nodes);
    checks_read_done(&r);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct checks_opts *o = cli->opts;
    struct target target = {0};
    struct session s;
    int rc = 0;
    if (argc && o->output.selector)
        return cli_usage(cli, "give node names or a selector, not both");
    if (argc)
        rc = target_parse(cli, &(struct target_opts){0}, argc, argv, &target);
    if (rc)
        return rc;
    rc = session_open(cli, &o->connection, &s);
    if (!rc) {
        rc = run_session(&s, o, &target);
        session_close(&s);
    }
    target_forget(&target);
    return rc;
}

static int parse_gate(const char *text, struct arena *arena, void *field, struct err *err) {
    (void)arena;
    enum check_when when;
    const char *word;
    for (size_t i = 0; (word = finding_gate(i, &when)); i++)
        if (streq(text, word)) {
            *(int *)field = when;
            return 0;
        }
    return err_set(err, EINVAL, "\"%s\" is none of cordon, operation, next", text);
}

static const char *const gate_words[] = {"cordon", "operation", "next", NULL};

static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "before",
         .kind = OPTION_PARSED,
         .offset = offsetof(struct checks_opts, gate),
         .arg = "STEP",
         .initial = "cordon",
         .words = gate_words,
         .hint = HINT_WORDS,
         .parse = parse_gate,
         .help = "Which step the exit status is about. cordon: may the nodes be cordoned; "
                 "operation: may they be rebooted, or whatever they were drained for; next: have "
                 "they come back so that the next ones may go"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_PARSED,
         .offset = offsetof(struct checks_opts, output.format),
         .arg = "FORMAT",
         .env = "SLIPWAY_OUTPUT",
         .words = output_words,
         .hint = HINT_WORDS,
         .parse = output_parse,
         .help = "Format: wide, name, json, yaml, jsonpath=TEMPLATE or custom-columns=SPEC; "
                 "'{prog} help output' explains them"},
        {.name = "no-headers",
         .kind = OPTION_FLAG,
         .offset = offsetof(struct checks_opts, output.no_headers),
         .env = "SLIPWAY_NO_HEADERS",
         .help = "Leave out the headings of the table"},
        {.name = "selector",
         .letter = 'l',
         .kind = OPTION_STRING,
         .offset = offsetof(struct checks_opts, output.selector),
         .arg = "SELECTOR",
         .help = "The nodes that have these labels, instead of names: key=value,key!=value,"
                 "key in (a,b),!key"},
        SELECTED_OPTION(offsetof(struct checks_opts, control_plane)),
        {0}}};

const struct verb verb_checks = {
    .name = "checks",
    .summary = "Ask storage, databases and quorums whether nodes may go",
    .args = "[NODE...]",
    .text =
        "Reads the objects of Longhorn, Rook Ceph, KubeVirt, CloudNativePG, Zalando's "
        "postgres-operator, etcd-operator and the control plane's etcd, where they are installed, "
        "and says for each what it means for taking the nodes out of service: pass, wait or deny, "
        "with the evidence. Nothing is changed.\n"
        "\n"
        "Nodes that are named, or selected, go together: no volume may lose all its replicas, no "
        "quorum its majority. Without any, each node of the cluster is looked at by itself.\n"
        "\n"
        "BEFORE says what a finding stands in the way of: the cordon; the operation, which is "
        "what the node is drained for, a reboot for instance; or the next node, once this one has "
        "come back. What a drain ends by itself, such as volumes that detach and primaries that "
        "move, is only in the way of the operation. A remark is in the way of nothing.\n"
        "\n"
        "With nodes named or selected the exit status is 3 when something has to be waited for, "
        "and 5 when something is denied, before the step that --before names.",
    .examples = {{"What is there, and which nodes could go", "checks"},
                 {"May these three go together?", "checks 'w[1-3]'"},
                 {"Has the node recovered, so that the next can go?", "checks w1 --before next"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct checks_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct checks_opts),
    .answers = true,
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"status", "doctor", NULL},
    .run = run,
};
