/* Plays one seed: the cluster, the network, the process that drains and dies, and the oracle that
 * looks at it after every event. */
#include "soak.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/prng.h"
#include "base/timefmt.h"
#include "cluster_gen.h"
#include "exec/drain_run.h"
#include "model/selector.h"
#include "oracle.h"
#include "oracle_state.h"
#include "sim/fleet/fleet.h"

/* How long a drain may take once nothing disturbs it, beside the timeouts of its nodes: the longest
 * silence of a stream (100 s), pauses of up to 45 s, and slow pods under tight budgets. */
#define PATIENCE SEC(900)
/* The most events a seed may have: beyond it something runs in circles. */
enum { STEPS_MAX = 400000 };

struct run {
    const struct soak_options *opts;
    struct soak_result *result;
    struct plan plan;
    struct sim *sim;
    struct loop *loop;
    struct pace *pace;
    struct chaos *chaos;
    struct oracle *oracle;
    struct oracle_state *state;
    struct prng random;
    struct loop_timer *events, *restart, *quiet, *stop;
    unsigned removals; /* sent */
    size_t next_event;
    int64_t begun, calm_since; /* of the loop */
    bool calm;
    /* the process */
    struct kube_client client;
    struct drain_run *drain;
    struct selector selector;
    struct rules *rules;
    int64_t started;
    bool over, failed, stop_asked, finished;
    unsigned failures;
};

static void trace(const struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void trace(const struct run *r, const char *fmt, ...) {
    if (!r->opts->trace)
        return;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    fprintf(stderr, "%9.3f %s\n", (double)(loop_now(r->loop) - r->begun) / 1e6, text);
}

static void digest(struct run *r, const void *p, size_t len) {
    uint64_t h = r->result->digest;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3u; /* FNV-1a */
    r->result->digest = h;
}

/* --- between the network and the oracle --- */

static void on_sent(void *arg, const struct chaos_request *req) {
    struct run *r = arg;
    int64_t now = loop_now(r->loop);
    r->result->requests++;
    digest(r, &now, sizeof now);
    digest(r, req->path, strlen(req->path));
    digest(r, req->body.p, req->body.len);
    if (req->kind < CHAOS_WRITES)
        trace(r, "-> #%" PRIu64 " %s %s %.*s", req->number, req->method, req->path,
              (int)MIN_OF(req->body.len, (size_t)400), req->body.p);
    else
        trace(r, "-> #%" PRIu64 " %s %s", req->number, req->method, req->path);
    oracle_sent(r->oracle, req);
    if ((req->kind == CHAOS_EVICT || req->kind == CHAOS_DELETE_POD) &&
        ++r->removals == r->plan.stop_at)
        loop_timer_set(r->stop, MSEC(prng_range(&r->random, 0, 20)));
}

static void on_serving(void *arg, const struct chaos_request *req) {
    struct run *r = arg;
    oracle_serving(r->oracle, req);
}

static void on_served(void *arg, const struct chaos_request *req, const struct api_reply *reply) {
    struct run *r = arg;
    if (req->kind < CHAOS_WRITES)
        trace(r, ".. #%" PRIu64 " carried out: %d %.*s", req->number, reply->code,
              reply->code >= 300 ? (int)MIN_OF(reply->body.len, (size_t)300) : 0,
              str_get(&reply->body));
    oracle_served(r->oracle, req, reply->code);
}

static void on_told(void *arg, const struct chaos_request *req, int code, int64_t retry_after) {
    struct run *r = arg;
    trace(r, "<- #%" PRIu64 " %d%s", req->number, code, retry_after > 0 ? " with Retry-After" : "");
    oracle_told(r->oracle, req, code, retry_after);
}

static int64_t wall(void *arg) {
    return loop_wall(((struct run *)arg)->loop);
}

static int64_t known(void *arg, const char *resource, const char *selected) {
    return chaos_known(((struct run *)arg)->chaos, resource, selected);
}

static unsigned pending(void *arg, enum chaos_kind kind, const char *ns, const char *name) {
    return chaos_pending(((struct run *)arg)->chaos, kind, ns, name);
}

/* --- the process --- */

static void on_note(void *arg, const struct drain_note *note) {
    struct run *r = arg;
    static const char *const words[] = {
        "cordoned", "already cordoned", "cordon failed", "uncordoned", "phase",   "warnings",
        "evicting", "deleting",         "gone",          "late",       "skipped", "failed",
        "blocked",  "unblocked",        "escalated",     "surge",      "remark"};
    trace(r, "   note %s %s %s%s%s %s", words[note->kind], note->node ? note->node->name : "",
          note->pod ? note->pod->name : "",
          note->kind == NOTE_PHASE && note->node ? drain_phase_word(note->node->phase) : "",
          note->blocker ? blocker_row(note->blocker->code)->name : "", strna(note->text));
}

static void on_remark(void *arg, const char *text) {
    trace(arg, "   remark %s", text);
}

static void on_failed(void *arg, const char *what, enum kube_outcome outcome, const char *message) {
    struct run *r = arg;
    trace(r, "   failed: %s: %s: %s", what, kube_outcome_row(outcome)->name, message);
    r->failed = true;
    /* A node that is not there is found by asking, and then it is over. */
    if (outcome == KUBE_NOT_FOUND)
        r->failures = UINT32_MAX;
}

static void on_over(void *arg) {
    struct run *r = arg;
    trace(r, "   over");
    r->over = true;
}

static void process_start(struct run *r) {
    const struct plan *p = &r->plan;
    r->over = r->failed = r->stop_asked = false;
    r->started = loop_now(r->loop);
    r->client = (struct kube_client){
        .transport = chaos_transport(r->chaos),
        .loop = r->loop,
        .pool = pool_new(type_drop),
        .timeout = prng_range(&r->random, 0, 2) ? 0 : SEC(10),
    };
    struct drain_run_opts opts = {
        .drain =
            {
                .force = p->force,
                .ignore_daemonsets = p->ignore_daemonsets,
                .delete_emptydir = p->delete_emptydir,
                .disable_eviction = p->disable_eviction,
                .grace = p->grace,
                .timeout = p->timeout,
                .skip_wait = p->skip_wait,
                .pod_selector = *p->selector ? r->selector.list : NULL,
                .dry_run = p->dry_run ? DRY_RUN_SERVER : DRY_RUN_NONE,
                .max_unavailable = {p->max_unavailable, false},
                .parallel = p->parallel,
                .max_zones = p->max_zones,
                .rate = p->rate,
                .detach_timeout = p->detach_timeout,
                .surge = p->surge,
                .wait_rescheduled = p->wait_rescheduled,
                .uncordon_on_abort = p->uncordon_on_abort,
                .uncordon_when_done = p->uncordon_when_done,
                .keep_record = p->keep_record,
                .avoid_next = p->avoid_next,
                .rules = r->rules,
                .holder = {.id = PLAN_HOLDER, .by = "soak", .reason = "soak"},
                .seed = prng_next(&r->random),
            },
        .names = (const char *const *)p->targets.p,
        .n_names = p->targets.len,
        .page = p->no_watch ? 0 : (int)prng_range(&r->random, 0, 4),
        .seed = prng_next(&r->random),
        .note = on_note,
        .remark = on_remark,
        .failed = on_failed,
        .over = on_over,
        .arg = r,
    };
    trace(r, "== a process starts");
    oracle_begin(r->oracle);
    oracle_state_reset(r->state);
    r->drain = drain_run_new(&r->client, &opts);
}

/* It is gone, with all that it knew. */
static void process_end(struct run *r, bool killed) {
    if (!r->drain)
        return;
    trace(r, killed ? "== the process is killed" : "== the process ends");
    if (killed)
        chaos_killing(r->chaos);
    drain_run_free(r->drain);
    r->drain = NULL;
    chaos_killed(r->chaos);
    pool_free(r->client.pool);
    r->client.pool = NULL;
    oracle_state_reset(r->state);
}

static void on_restart(void *arg) {
    struct run *r = arg;
    if (!r->drain && !r->finished)
        process_start(r);
}

static void restart_later(struct run *r) {
    loop_timer_set(r->restart, MSEC(prng_range(&r->random, 1, 6000)));
}

static void on_kill(void *arg) {
    struct run *r = arg;
    if (!r->drain)
        return;
    r->result->kills++;
    process_end(r, true);
    restart_later(r);
}

/* --- what happens --- */

static void wait_for_event(struct run *r) {
    if (r->next_event < r->plan.events.len)
        loop_timer_set(r->events,
                       r->begun + r->plan.events.p[r->next_event].after - loop_now(r->loop));
}

static void on_stop(void *arg) {
    struct run *r = arg;
    if (!r->drain || r->over || r->stop_asked)
        return;
    trace(r, "** asked to stop");
    r->result->stops++;
    r->stop_asked = true;
    oracle_stop(r->oracle);
    drain_run_stop(r->drain, "interrupted");
}

static void on_event(void *arg) {
    struct run *r = arg;
    const struct plan_event *e = &r->plan.events.p[r->next_event++];
    trace(r, "** %s %u", plan_act_word(e->act), e->pick);
    r->result->events++;
    if (e->act == ACT_KILL) {
        on_kill(r);
    } else if (e->act == ACT_STOP) {
        on_stop(r);
    } else {
        pace_catch_up(r->pace);
        cluster_act(r->sim, &r->plan, e);
        pace_update(r->pace);
    }
    wait_for_event(r);
}

static void on_quiet(void *arg) {
    struct run *r = arg;
    trace(r, "** no more faults");
    r->calm = true;
    r->calm_since = loop_now(r->loop);
    chaos_quiet(r->chaos);
}

/* --- the course of it --- */

static bool stopped_only(const struct drain *d) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(d, &n);
    for (size_t i = 0; i < n; i++)
        if (nodes[i]->phase == DRAIN_STOPPED)
            return true;
    return false;
}

/* The process has come to an end by itself. */
static void process_over(struct run *r) {
    struct drain *d = drain_run_engine(r->drain);
    if (r->failed) {
        process_end(r, false);
        if (r->failures++ == UINT32_MAX)
            r->finished = true;
        else
            restart_later(r);
        return;
    }
    if (!d) {
        oracle_blame(r->oracle, 5, "the drain is over before it began");
        r->finished = true;
        return;
    }
    bool calm = r->calm && r->started > r->calm_since;
    oracle_state_end(r->state, d, calm);
    bool again = r->stop_asked && stopped_only(d);
    if (!again) {
        size_t n;
        const struct drain_node *const *nodes = drain_nodes(d, &n);
        r->result->n_nodes = MIN_OF(n, (size_t)SOAK_NODES_MAX);
        for (size_t i = 0; i < r->result->n_nodes; i++) {
            r->result->phases[i] = nodes[i]->phase;
            digest(r, &nodes[i]->phase, sizeof nodes[i]->phase);
        }
        r->finished = true;
    }
    process_end(r, false);
    if (again)
        restart_later(r);
}

static int64_t time_limit(const struct plan *p) {
    int64_t last = p->faults_end;
    if (p->events.len)
        last = MAX_OF(last, p->events.p[p->events.len - 1].after);
    return last + PATIENCE + (int64_t)p->targets.len * (2 * p->timeout + SEC(120));
}

static void play(struct run *r) {
    int64_t limit = time_limit(&r->plan);
    unsigned steps = 0;
    while (!r->finished && !oracle_n_violations(r->oracle)) {
        int64_t next = loop_next(r->loop);
        if (next < 0 || loop_now(r->loop) - r->begun > limit || ++steps > STEPS_MAX) {
            oracle_blame(r->oracle, 5,
                         "the drain has not ended after %.0f simulated seconds, %u events",
                         (double)(loop_now(r->loop) - r->begun) / 1e6, steps);
            break;
        }
        loop_advance(r->loop, next);
        if (r->drain && drain_run_engine(r->drain))
            oracle_state_look(r->state, drain_run_engine(r->drain));
        if (r->drain && (r->over || r->failed))
            process_over(r);
    }
}

static void meet_all(struct run *r) {
    struct fleet *f = sim_fleet(r->sim);
    struct resource *all[] = {f->nodes,       f->pods,          f->deployments, f->replica_sets,
                              f->daemon_sets, f->stateful_sets, f->pdbs,        f->attachments};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        oracle_meet(r->oracle, all[i]->shelf);
}

void soak_run(uint64_t seed, const struct soak_options *opts, struct soak_result *out) {
    struct run r = {.opts = opts, .result = out, .random = {seed + 99}};
    _cleanup_err_ struct err err = ERR_INIT;
    *out = (struct soak_result){.digest = 0xcbf29ce484222325u};
    r.sim = cluster_gen(seed, &r.plan);
    if (opts->calm) {
        r.plan.write_faults = r.plan.read_faults = 0;
        r.plan.events.len = r.plan.stop_at = 0;
        r.plan.no_watch = r.plan.slow = false;
    }
    out->benign = r.plan.benign;
    if (opts->trace) {
        _cleanup_str_ struct str text = STR_INIT;
        plan_print(&r.plan, &text);
        fputs(str_get(&text), stderr);
    }
    if (selector_parse(r.plan.selector, &r.selector, &err) ||
        (r.plan.rules_text &&
         rules_parse(r.plan.rules_text, strlen(r.plan.rules_text), "rules", &r.rules, &err))) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, err_msg(&err));
        abort();
    }
    struct world *world = sim_world(r.sim);
    r.loop = loop_new_virtual(world->clock.now);
    r.pace = pace_new(r.loop, world, 1);
    r.begun = loop_now(r.loop);
    struct chaos_options chaos = {
        .seed = seed * 3 + 1,
        .write_faults = r.plan.write_faults,
        .read_faults = r.plan.read_faults,
        .no_watch = r.plan.no_watch,
        .slow = r.plan.slow,
        .hooks = {on_sent, on_serving, on_served, on_told, on_kill, &r},
        .counts = opts->counts,
    };
    r.chaos = chaos_new(r.loop, sim_api(r.sim), r.pace, &chaos);
    r.oracle = oracle_new(&(struct oracle_options){&r.plan, world, wall, known, pending, &r});
    meet_all(&r);
    r.state = oracle_state_new(r.oracle, &r.plan, r.chaos);
    r.events = loop_timer_new(r.loop, on_event, &r);
    r.restart = loop_timer_new(r.loop, on_restart, &r);
    r.quiet = loop_timer_new(r.loop, on_quiet, &r);
    r.stop = loop_timer_new(r.loop, on_stop, &r);
    loop_timer_set(r.quiet, r.plan.faults_end);
    wait_for_event(&r);
    process_start(&r);
    play(&r);

    out->took = loop_now(r.loop) - r.begun;
    struct str all = STR_INIT;
    for (size_t i = 0; i < oracle_n_violations(r.oracle); i++)
        str_addf(&all, "%s\n", oracle_violation(r.oracle, i));
    out->violations = all.len ? str_take(&all) : NULL;
    process_end(&r, false);
    oracle_state_free(r.state);
    oracle_free(r.oracle);
    chaos_free(r.chaos);
    loop_timer_free(r.events);
    loop_timer_free(r.restart);
    loop_timer_free(r.quiet);
    loop_timer_free(r.stop);
    pace_free(r.pace);
    loop_free(r.loop);
    sim_free(r.sim);
    rules_free(r.rules);
    selector_done(&r.selector);
    plan_done(&r.plan);
}
