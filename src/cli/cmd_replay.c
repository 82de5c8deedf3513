/* The verb `replay`: runs what a controller has recorded through the engine again. It needs no
 * cluster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cli.h"
#include "cli/verb.h"
#include "controller/replay.h"

#define SCHEMA "slipway.replay/1.0"

enum {
    INPUT_MAX = 2000 << 20, /* bytes; what a recorder was told to keep may be more than is usual */
    DIFFERENCES_SHOWN = 10, /* the first is what matters: the rest mostly follows from it */
};

struct replay_cli_opts {
    struct document_opts output;
    const char *node, *until_text;
    int until;
    bool state;
};

struct replay_run {
    struct cli *cli;
    const struct replay_cli_opts *opts;
    struct replay *replay;
    struct str json;
    struct jsonw w;
    bool document, stopped;
    size_t transitions, differences;
    size_t first_difference; /* line */
};

/* --- transitions --- */

/* Phases of slots, Maintenances, drains and rollouts: what people see happen. */
static bool is_transition(const struct tape_line *l) {
    return streq(l->out, "note") || streq(l->out, "rollout") ||
           (streq(l->out, "drain") && str_same(l->reason, "phase"));
}

static bool is_shown(const struct replay_run *r, const struct tape_line *l) {
    return !r->opts->node || str_same(l->node, r->opts->node);
}

/* "node w1: Pending -> Draining: has a slot (SlotTaken)" */
static void describe(const struct tape_line *l, struct str *out) {
    bool drain = streq(l->out, "drain"), rollout = streq(l->out, "rollout");
    str_addf(out, "%s %s:", rollout ? "rollout" : "node", strna(rollout ? l->name : l->node));
    if (l->from)
        str_addf(out, " %s%s -> %s%s", drain ? "drain " : "", l->from, l->to,
                 str_empty(l->text) ? "" : ":");
    if (!str_empty(l->text))
        str_addf(out, " %s", l->text);
    if (!drain && l->reason)
        str_addf(out, " (%s)", l->reason);
    if (l->maintenance)
        str_addf(out, ", maintenance %s", l->maintenance);
}

static void write_transition(struct replay_run *r, const struct tape_line *l, int64_t when,
                             size_t at) {
    struct jsonw *w = &r->w;
    char buf[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kint(w, "number", (int64_t)r->transitions);
    jsonw_kint(w, "line", (int64_t)at);
    jsonw_kstr(w, "time", time_format(when, true, buf));
    jsonw_kstr(w, "of", l->out);
    jsonw_kopt(w, "policy", l->policy);
    jsonw_kopt(w, "node", l->node);
    jsonw_kopt(w, "name", l->name);
    jsonw_kopt(w, "maintenance", l->maintenance);
    jsonw_kopt(w, "from", l->from);
    jsonw_kopt(w, "to", l->to);
    jsonw_kopt(w, "reason", l->reason);
    jsonw_kopt(w, "text", l->text);
    jsonw_end(w);
}

static void print_transition(struct replay_run *r, const struct str *text, int64_t when) {
    char buf[TIMEFMT_LEN];
    struct term *out = &r->cli->out;
    term_printf(out, "%5zu  %s  ", r->transitions, when ? time_format(when, true, buf) : "-");
    term_text(out, str_get(text));
    term_printf(out, "\n");
}

static void on_out(void *arg, const struct tape_line *l, struct now now, size_t at) {
    struct replay_run *r = arg;
    _cleanup_str_ struct str text = STR_INIT;
    if (r->stopped || !is_transition(l))
        return;
    r->transitions++;
    describe(l, &text);
    if (is_shown(r, l) && r->document)
        write_transition(r, l, now.wall, at);
    else if (is_shown(r, l))
        print_transition(r, &text, now.wall);
    bool reached =
        (r->opts->until && r->transitions == (size_t)r->opts->until) ||
        (r->opts->until_text && is_shown(r, l) && strstr(str_get(&text), r->opts->until_text));
    r->stopped |= reached;
}

/* --- differences --- */

static void on_differs(void *arg, const char *then, const char *now, size_t at) {
    struct replay_run *r = arg;
    struct term *out = &r->cli->out;
    if (!r->differences++)
        r->first_difference = at;
    if (r->document || r->differences > DIFFERENCES_SHOWN)
        return;
    term_printf(out, "line %zu of the recording had another outcome:\n  then: ", at);
    term_text(out, then ? then : "nothing");
    term_printf(out, "\n  now:  ");
    term_text(out, now ? now : "nothing");
    term_printf(out, "\n");
}

/* --- the engine's state --- */

static void write_slot(struct jsonw *w, const struct keeper *k, const struct slot *s) {
    const struct drain_blocker *b = keeper_blocker(k, s->node);
    char buf[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "node", s->node);
    jsonw_kstr(w, "state", slot_state_word(s->state));
    jsonw_kstr(w, "since", time_format(s->since, false, buf));
    jsonw_kstr(w, "by", s->by);
    jsonw_kopt(w, "operation", s->operation);
    jsonw_kstr(w, "id", s->id);
    if (b) {
        jsonw_kbegin(w, "blocker", '{');
        jsonw_kstr(w, "code", blocker_row(b->code)->name);
        jsonw_kopt(w, "object", b->object);
        jsonw_kstr(w, "message", b->message);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_wish(struct jsonw *w, const struct slot_wish *wish) {
    char buf[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "node", wish->node);
    jsonw_kstr(w, "since", time_format(wish->since, false, buf));
    jsonw_kstr(w, "by", wish->by);
    jsonw_kopt(w, "operation", wish->operation);
    jsonw_end(w);
}

static void write_policy(struct jsonw *w, const struct policy_kept *p) {
    const struct slots *s = p->keeper ? keeper_slots(p->keeper) : NULL;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", p->name);
    jsonw_kopt(w, "problem", p->problem);
    if (p->keeper)
        jsonw_kint(w, "limit", (int64_t)keeper_limit(p->keeper));
    if (s) {
        jsonw_kint(w, "term", s->fence);
        jsonw_kbegin(w, "held", '[');
        for (size_t i = 0; i < s->list.len; i++)
            write_slot(w, p->keeper, &s->list.p[i]);
        jsonw_end(w);
        jsonw_kbegin(w, "waiting", '[');
        for (size_t i = 0; i < s->waiting.len; i++)
            write_wish(w, &s->waiting.p[i]);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_state(struct replay_run *r) {
    struct jsonw *w = &r->w;
    struct core *core = replay_core(r->replay);
    const struct policies *all = core_policies(core);
    int32_t term;
    jsonw_kbegin(w, "state", '{');
    if (core_leads(core, &term))
        jsonw_kint(w, "leadsInTerm", term);
    jsonw_kint(w, "nodes", (int64_t)store_len(core_cluster(core)->nodes));
    jsonw_kbegin(w, "policies", '[');
    for (size_t i = 0; i < policies_len(all); i++)
        write_policy(w, policies_at(all, i));
    jsonw_end(w);
    jsonw_end(w);
}

static void print_drain(struct term *out, struct keeper *k, const char *node) {
    struct drain *d = keeper_drain(k);
    const struct drain_node *n = d ? drain_node(d, node) : NULL;
    const struct drain_blocker *b = keeper_blocker(k, node);
    if (n)
        term_printf(out, "      its drain: %s, %u of %u pods are gone\n",
                    drain_phase_word(n->phase), n->gone, n->total);
    if (!b)
        return;
    term_printf(out, "      waits: %s ", blocker_row(b->code)->name);
    term_text(out, strna(b->object));
    term_printf(out, ": ");
    term_text(out, b->message);
    term_printf(out, "\n");
}

static void print_who(struct term *out, const char *node, const char *how, int64_t since,
                      const char *by) {
    char buf[TIMEFMT_LEN];
    term_printf(out, "    ");
    term_text(out, node);
    term_printf(out, " %s since %s, for ", how, time_format(since, false, buf));
    term_text(out, by);
    term_printf(out, "\n");
}

static void print_policy(struct term *out, const struct policy_kept *p) {
    const struct slots *s = p->keeper ? keeper_slots(p->keeper) : NULL;
    term_printf(out, "  policy ");
    term_text(out, p->name);
    if (!s) {
        term_printf(out, ": %s\n", p->problem ? "cannot be used" : "its slots are not known");
        return;
    }
    term_printf(out, ": %zu of %zu slots are held, term %d\n", s->list.len, keeper_limit(p->keeper),
                s->fence);
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *slot = &s->list.p[i];
        print_who(out, slot->node, slot_state_word(slot->state), slot->since, slot->by);
        print_drain(out, p->keeper, slot->node);
    }
    for (size_t i = 0; i < s->waiting.len; i++)
        print_who(out, s->waiting.p[i].node, "waits", s->waiting.p[i].since, s->waiting.p[i].by);
}

static void print_state(struct replay_run *r) {
    struct term *out = &r->cli->out;
    struct core *core = replay_core(r->replay);
    const struct policies *all = core_policies(core);
    term_printf(out, "the engine then: %zu nodes, ", store_len(core_cluster(core)->nodes));
    int32_t term;
    if (core_leads(core, &term))
        term_printf(out, "leads in term %d\n", term);
    else
        term_printf(out, "does not lead\n");
    for (size_t i = 0; i < policies_len(all); i++)
        print_policy(out, policies_at(all, i));
}

/* --- the run --- */

static void begin_document(struct replay_run *r) {
    const struct tape_head *head = replay_head(r->replay);
    jsonw_init(&r->w, &r->json, true);
    jsonw_begin(&r->w, '{');
    jsonw_kstr(&r->w, "schema", SCHEMA);
    jsonw_kopt(&r->w, "build", head->build);
    jsonw_kopt(&r->w, "identity", head->identity);
    jsonw_kbegin(&r->w, "transitions", '[');
}

static void end_document(struct replay_run *r) {
    jsonw_end(&r->w);
    jsonw_kint(&r->w, "inputs", (int64_t)replay_inputs(r->replay));
    jsonw_kbool(&r->w, "torn", replay_is_torn(r->replay));
    jsonw_kint(&r->w, "differences", (int64_t)r->differences);
    if (r->differences)
        jsonw_kint(&r->w, "firstDifferenceLine", (int64_t)r->first_difference);
    write_state(r);
    jsonw_end(&r->w);
}

static void end_text(struct replay_run *r) {
    struct term *out = &r->cli->out;
    if (r->stopped || r->opts->state)
        print_state(r);
    if (replay_is_torn(r->replay))
        cli_note(r->cli, "the last line has no end, and is left out: whoever wrote it was stopped");
    if (r->differences)
        term_printf(out, "%zu %s, the first of line %zu, after %zu inputs and %zu transitions\n",
                    r->differences, r->differences == 1 ? "outcome differs" : "outcomes differ",
                    r->first_difference, replay_inputs(r->replay), r->transitions);
    else
        term_printf(out, "everything came out as it was recorded: %zu inputs, %zu transitions\n",
                    replay_inputs(r->replay), r->transitions);
}

static int play(struct replay_run *r, struct err *err) {
    int rc = 1;
    if (r->document)
        begin_document(r);
    while (rc == 1 && !r->stopped)
        rc = replay_next(r->replay, err);
    if (rc < 0)
        return cli_error(r->cli, err);
    if (r->document)
        end_document(r);
    else
        end_text(r);
    if (r->document && cli_print_document(r->cli, &r->json, &r->opts->output.format, false))
        return EXIT_FAILED;
    if ((r->opts->until || r->opts->until_text) && !r->stopped)
        return cli_fail(r->cli, EXIT_FAILED, "it does not come to that transition: there are %zu",
                        r->transitions);
    return r->differences ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = NULL;
    size_t len;
    struct replay_run r = {.cli = cli, .opts = cli->opts, .json = STR_INIT};
    r.document = output_is_document(&r.opts->output.format);
    (void)argc;
    if (file_read(argv[0], INPUT_MAX, &text, &len, &err))
        return cli_error(cli, &err);
    if (replay_new((struct view){text, len},
                   &(struct replay_opts){.out = on_out, .differs = on_differs, .arg = &r},
                   &r.replay, &err)) {
        err_wrap(&err, "%s", argv[0]);
        return cli_error(cli, &err);
    }
    int rc = play(&r, &err);
    replay_free(r.replay);
    str_done(&r.json);
    return rc;
}

#define FIELD(member) offsetof(struct replay_cli_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "until",
         .kind = OPTION_INT,
         .offset = FIELD(until),
         .arg = "N",
         .max = 1000000000,
         .help = "Stop after that transition, by its number, and show what the engine knows then "
                 "(default: at the end)"},
        {.name = "until-transition",
         .kind = OPTION_STRING,
         .offset = FIELD(until_text),
         .arg = "TEXT",
         .filled = true,
         .help = "The same with the first whose line has this text in it"},
        {.name = "node",
         .kind = OPTION_STRING,
         .offset = FIELD(node),
         .arg = "NODE",
         .filled = true,
         .help = "Show the transitions of this node only"},
        {.name = "state",
         .kind = OPTION_FLAG,
         .offset = FIELD(state),
         .help = "Show at the end, too, what the engine knows then"},
        {0}}};
#undef FIELD

const struct verb verb_replay = {
    .name = "replay",
    .summary = "Run a controller's recording through the engine again",
    .args = "FILE",
    .text =
        "Runs what a controller has recorded (controller --record FILE) through the same engine "
        "again, without a cluster: the same objects, answers, questions and times, in the same "
        "order. Each transition is printed with its number. Where something else comes of it "
        "than then, as with another build, that is said, and it ends with 1.\n\nFILE is what is "
        "being written, or was last; FILE.1 is what was before.",
    .examples = {{"See what happened", "replay /var/lib/slipway/record"},
                 {"Stop where a node is about to be drained, and look at the slots",
                  "replay record --node w1 --until-transition Draining"},
                 {"Use a bug report as a test of another build", "replay record -o json"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0}, {&document_options, offsetof(struct replay_cli_opts, output)}, {0}},
    .opts_size = sizeof(struct replay_cli_opts),
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_FILE,
    .run = run,
};
