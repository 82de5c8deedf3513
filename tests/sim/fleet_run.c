/* Plays one seed of the soak of the controller: replicas of the real one, each a process with a
 * clock and a network of its own, on one simulated cluster.
 *
 * All loops go in step: the world's first, whose timers bring answers, and then those of the
 * replicas that are not frozen. One that is frozen finds, when it goes on, that time has passed. */
#include "fleet_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "draw.h"
#include "sim/fleet/fleet.h"

/* How long it may take until everything is over, once nothing disturbs it: a client that does not
 * ask is waited for half an hour, a same boot five minutes, an operation a quarter of an hour. */
#define PATIENCE SEC(3 * 3600)
#define IDLE     SEC(600)
enum { STEPS_MAX = 3000000 };

void fleet_trace(const struct fleet_run *r, const char *fmt, ...) {
    if (!r->opts->trace)
        return;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    fprintf(stderr, "%9.3f %s\n", (double)(loop_now(r->loop) - r->begun) / 1e6, text);
}

static void digest(struct fleet_run *r, const void *p, size_t len) {
    uint64_t h = r->result->digest;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3u; /* FNV-1a */
    r->result->digest = h;
}

/* --- between the network and the oracle --- */

static void on_sent(void *arg, const struct chaos_request *req) {
    struct fleet_replica *p = arg;
    struct fleet_run *r = p->run;
    int64_t now = loop_now(r->loop);
    r->result->requests++;
    digest(r, &now, sizeof now);
    digest(r, req->path, strlen(req->path));
    digest(r, req->body.p, req->body.len);
    if (req->kind < CHAOS_WRITES && req->kind != CHAOS_LEASE)
        fleet_trace(r, "%u-> #%" PRIu64 " %s %s %.*s", p->index, req->number, req->method,
                    req->path, (int)MIN_OF(req->body.len, (size_t)1200), req->body.p);
    fleet_oracle_sent(r->oracle, p->index, req);
}

static void on_serving(void *arg, const struct chaos_request *req) {
    struct fleet_replica *p = arg;
    fleet_oracle_serving(p->run->oracle, p->index, req);
}

static void on_served(void *arg, const struct chaos_request *req, const struct api_reply *reply) {
    struct fleet_replica *p = arg;
    if (req->kind < CHAOS_WRITES && req->kind != CHAOS_LEASE)
        fleet_trace(p->run, "%u<- #%" PRIu64 " %s %s: %d", p->index, req->number, req->method,
                    req->path, reply->code);
    fleet_oracle_served(p->run->oracle);
}

static void on_told(void *arg, const struct chaos_request *req, int code, int64_t retry_after) {
    struct fleet_replica *p = arg;
    (void)retry_after;
    fleet_oracle_told(p->run->oracle, p->index, req, code);
}

static int64_t now(void *arg) {
    const struct fleet_run *r = arg;
    return loop_wall(r->loop);
}

static int64_t known(void *arg, unsigned replica, const char *resource, const char *selected) {
    const struct fleet_run *r = arg;
    return chaos_known(r->replicas[replica].chaos, resource, selected);
}

/* --- replicas --- */

static void on_reply(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status) {
    struct fleet_replica *p = arg;
    struct fleet_run *r = p->run;
    digest(r, &ticket, sizeof ticket);
    digest(r, &kind, sizeof kind);
    fleet_trace(r, "%u   answers question %" PRIu64 ": %s %d", p->index, ticket,
                fleetlock_kinds[kind].word, status);
    for (unsigned i = 0; i < r->plan.nodes; i++)
        if (r->clients[i].ticket == ticket)
            r->opts->cover->answers[r->clients[i].state == CLIENT_REPORTS][kind]++;
    fleet_oracle_replied(r->oracle, ticket, kind, status);
    fleet_client_answered(r, ticket, kind);
}

static void replica_start(struct fleet_replica *p) {
    struct fleet_run *r = p->run;
    int64_t skew = r->plan.skewed ? SEC(pick(&r->random, -20, 20)) : 0;
    p->loop = loop_new_virtual(loop_wall(r->loop) + skew);
    p->client = (struct kube_client){.transport = chaos_transport(p->chaos),
                                     .loop = p->loop,
                                     .pool = pool_new(type_drop),
                                     .timeout = chance(&r->random, 50) ? 0 : SEC(10)};
    (void)snprintf(p->identity, sizeof p->identity, "replica-%u_%u", p->index, ++p->lives);
    p->log = (struct log){.level = r->opts->trace ? LOG_DEBUG : LOG_ERROR, .fd = STDERR_FILENO};
    struct controller_opts opts = {.ns = FLEET_NS,
                                   .identity = p->identity,
                                   .ids = {.names = true},
                                   .rate = r->plan.rate,
                                   .reply = on_reply,
                                   .arg = p,
                                   .log = r->opts->trace ? &p->log : NULL,
                                   .seed = prng_next(&r->random)};
    fleet_trace(r, "== replica %u starts", p->index);
    if (controller_new(&p->client, &opts, &p->controller, NULL))
        abort();
}

/* It is gone, with all that it knew. */
static void replica_end(struct fleet_replica *p) {
    if (!p->controller)
        return;
    chaos_killing(p->chaos);
    controller_free(p->controller);
    p->controller = NULL;
    chaos_killed(p->chaos);
    chaos_freeze(p->chaos, false);
    p->frozen = false;
    loop_timer_stop(p->thaw);
    pool_free(p->client.pool);
    loop_free(p->loop);
    p->loop = NULL;
    fleet_oracle_died(p->run->oracle, p->index);
}

static void on_restart(void *arg) {
    struct fleet_replica *p = arg;
    if (!p->controller)
        replica_start(p);
}

void fleet_kill(struct fleet_replica *p) {
    struct fleet_run *r = p->run;
    if (!p->controller)
        return;
    fleet_trace(r, "== replica %u is killed", p->index);
    r->result->kills++;
    replica_end(p);
    loop_timer_set(p->restart, MSEC(pick(&r->random, 1, 30000)));
}

static void on_kill(void *arg) {
    fleet_kill(arg);
}

void fleet_freeze(struct fleet_replica *p, int64_t lasts) {
    struct fleet_run *r = p->run;
    if (!p->controller || p->frozen)
        return;
    fleet_trace(r, "== replica %u is frozen for %.1f s", p->index, (double)lasts / 1e6);
    r->result->freezes++;
    p->frozen = true;
    p->missed = loop_now(r->loop);
    chaos_freeze(p->chaos, true);
    fleet_oracle_froze(r->oracle, p->index);
    loop_timer_set(p->thaw, lasts);
}

static void on_thaw(void *arg) {
    struct fleet_replica *p = arg;
    fleet_trace(p->run, "== replica %u goes on", p->index);
    p->frozen = false;
    loop_jump(p->loop, loop_now(p->run->loop) - p->missed);
    fleet_oracle_thawed(p->run->oracle, p->index);
    chaos_freeze(p->chaos, false);
}

uint64_t fleet_ask(struct fleet_run *r, const char *node, bool steady) {
    struct fleet_replica *p = &r->replicas[prng_range(&r->random, 0, r->plan.replicas)];
    if (!p->controller || p->frozen)
        return 0;
    r->result->questions++;
    uint64_t ticket = ++r->tickets;
    fleet_trace(r, "** %s asks replica %u: %s, question %" PRIu64, node, p->index,
                steady ? "steady-state" : "pre-reboot", ticket);
    fleet_oracle_asked(r->oracle, p->index, ticket, node, steady);
    controller_ask(p->controller, &(struct fleetlock_question){
                                      .ticket = ticket,
                                      .api = steady ? FLEETLOCK_STEADY_STATE : FLEETLOCK_PRE_REBOOT,
                                      .node = node,
                                      .group = "default",
                                      .id = node,
                                      .peer = "192.0.2.1:4711"});
    fleet_moment(r, "asked", node, "");
    return ticket;
}

/* --- what happens --- */

static void wait_for_event(struct fleet_run *r) {
    if (r->next_event < r->plan.events.len)
        loop_timer_set(r->events,
                       r->begun + r->plan.events.p[r->next_event].after - loop_now(r->loop));
}

static void on_event(void *arg) {
    struct fleet_run *r = arg;
    const struct fleet_event *e = &r->plan.events.p[r->next_event++];
    fleet_trace(r, "** %s %u", fleet_act_word(e->act), e->pick);
    r->result->events++;
    r->opts->cover->acts[e->act]++;
    if (e->moment)
        *vec_push(&r->armed) = *e;
    else
        fleet_act(r, e);
    wait_for_event(r);
}

static void on_quiet(void *arg) {
    struct fleet_run *r = arg;
    fleet_trace(r, "** no more faults");
    r->calm = true;
    r->armed.len = 0;
    for (unsigned i = 0; i < r->plan.replicas; i++)
        chaos_quiet(r->replicas[i].chaos);
}

static void on_round(void *arg) {
    struct fleet_run *r = arg;
    fleet_people_round(r);
    loop_timer_set(r->rounds, SEC(10));
}

/* --- the course of it --- */

/* The next moment of anybody. */
static int64_t next(const struct fleet_run *r) {
    int64_t next = loop_next(r->loop);
    for (unsigned i = 0; i < r->plan.replicas; i++) {
        const struct fleet_replica *p = &r->replicas[i];
        int64_t own = p->controller && !p->frozen ? loop_next(p->loop) : -1;
        if (own >= 0 && (next < 0 || own < next))
            next = own;
    }
    return next;
}

static void step(struct fleet_run *r, int64_t usec) {
    for (unsigned i = 0; i < r->plan.replicas; i++)
        if (r->replicas[i].controller && !r->replicas[i].frozen)
            loop_jump(r->replicas[i].loop, usec);
    loop_advance(r->loop, usec);
    for (unsigned i = 0; i < r->plan.replicas; i++)
        if (r->replicas[i].controller && !r->replicas[i].frozen)
            loop_advance(r->replicas[i].loop, 0);
}

static const char *unfinished(struct fleet_run *r) {
    if (r->next_event < r->plan.events.len || !r->calm || fleet_people_busy(r))
        return "not everything has happened yet";
    if (!fleet_clients_done(r))
        return "a FleetLock client is not done";
    return fleet_oracle_unfinished(r->oracle);
}

/* Where everything is, when it does not come to an end. */
static void trace_all(struct fleet_run *r, struct shelf *shelf) {
    struct snapshot *snap = shelf_snapshot(shelf);
    for (size_t i = 0; i < snap->n; i++)
        fleet_trace(r, "%s", snap->items[i]->json);
    snapshot_unref(snap);
}

static void play(struct fleet_run *r) {
    int64_t limit = r->plan.faults_end + PATIENCE, idle = 0, look = 0;
    bool over =
        false; /* as the last look had it: a node that has just come back may begin something */
    unsigned steps = 0;
    while (!fleet_oracle_n_violations(r->oracle)) {
        int64_t at = loop_now(r->loop) - r->begun;
        if (idle && at > idle + IDLE)
            break;
        if (!idle && (at > limit || ++steps > STEPS_MAX)) {
            fleet_oracle_blame(r->oracle, 5, "after %.0f simulated seconds and %u steps, %s",
                               (double)at / 1e6, steps, strna(unfinished(r)));
            trace_all(r, sim_fleet(r->sim)->nodes->shelf);
            trace_all(r, sim_fleet(r->sim)->pods->shelf);
            break;
        }
        if (!idle && at >= look) {
            bool again = over;
            look = at + SEC(5);
            over = !unfinished(r);
            if (over && again) {
                fleet_trace(r, "** everything is over");
                idle = at;
                fleet_oracle_idle(r->oracle);
            }
        }
        step(r, next(r));
    }
    if (idle)
        fleet_oracle_end(r->oracle);
}

static void saw_phase(void *arg, const struct fleet_way *way) {
    struct fleet_run *r = arg;
    fleet_cover_way(r->opts->cover, way->from, way->to, way->reason);
    fleet_moment(r, way->to, way->node, way->name);
}

static void saw_slot(void *arg, const char *node, const char *from, const char *to) {
    struct fleet_run *r = arg;
    fleet_cover_slot(r->opts->cover, from, to);
    fleet_moment(r, to, node, "");
}

static void saw_blocker(void *arg, const char *code) {
    struct fleet_run *r = arg;
    fleet_cover_blocker(r->opts->cover, code);
}

static void saw_rollout(void *arg, const char *reason) {
    struct fleet_run *r = arg;
    fleet_cover_rollout(r->opts->cover, reason);
}

static void begin(struct fleet_run *r) {
    const struct fleet_plan *p = &r->plan;
    struct world *world = sim_world(r->sim);
    r->loop = loop_new_virtual(world->clock.now);
    r->pace = pace_new(r->loop, world, 1);
    r->begun = loop_now(r->loop);
    r->oracle = fleet_oracle_new(&(struct fleet_oracle_options){
        .plan = p, .sim = r->sim, .now = now, .known = known, .arg = r});
    fleet_oracle_tell(r->oracle,
                      &(struct fleet_seen){saw_phase, saw_slot, saw_blocker, saw_rollout, r});
    r->events = loop_timer_new(r->loop, on_event, r);
    r->quiet = loop_timer_new(r->loop, on_quiet, r);
    r->rounds = loop_timer_new(r->loop, on_round, r);
    loop_timer_set(r->quiet, p->faults_end);
    loop_timer_set(r->rounds, SEC(10));
    for (unsigned i = 0; i < p->replicas; i++) {
        struct fleet_replica *one = &r->replicas[i];
        one->run = r;
        one->index = i;
        one->restart = loop_timer_new(r->loop, on_restart, one);
        one->thaw = loop_timer_new(r->loop, on_thaw, one);
        one->chaos = chaos_new(r->loop, sim_api(r->sim), r->pace,
                               &(struct chaos_options){
                                   .seed = p->seed * 7 + i,
                                   .write_faults = p->write_faults,
                                   .read_faults = p->read_faults,
                                   .slow = p->slow,
                                   .hooks = {on_sent, on_serving, on_served, on_told, on_kill, one},
                                   .counts = r->opts->counts});
        loop_timer_set(one->restart, MSEC(pick(&r->random, 0, 5000)));
    }
    for (unsigned i = 0; i < p->nodes; i++)
        if (p->client[i])
            fleet_client_begin(r, i);
    wait_for_event(r);
}

static void end(struct fleet_run *r) {
    for (unsigned i = 0; i < r->plan.replicas; i++) {
        struct fleet_replica *one = &r->replicas[i];
        replica_end(one);
        chaos_free(one->chaos);
        loop_timer_free(one->restart);
        loop_timer_free(one->thaw);
    }
    for (unsigned i = 0; i < r->plan.nodes; i++)
        loop_timer_free(r->clients[i].timer);
    fleet_people_done(r);
    fleet_oracle_free(r->oracle);
    loop_timer_free(r->events);
    loop_timer_free(r->quiet);
    loop_timer_free(r->rounds);
    pace_free(r->pace);
    loop_free(r->loop);
    sim_free(r->sim);
    fleet_plan_done(&r->plan);
}

void fleet_soak_run(uint64_t seed, const struct fleet_soak_options *opts,
                    struct fleet_soak_result *out) {
    struct fleet_run r = {.opts = opts, .result = out, .random = {seed + 77}};
    *out = (struct fleet_soak_result){.digest = 0xcbf29ce484222325u};
    fleet_plan_draw(seed, &r.plan);
    if (opts->trace) {
        _cleanup_str_ struct str text = STR_INIT;
        fleet_plan_print(&r.plan, &text);
        fputs(str_get(&text), stderr);
    }
    r.sim = fleet_gen(&r.plan);
    begin(&r);
    play(&r);
    struct str all = STR_INIT;
    for (size_t i = 0; i < fleet_oracle_n_violations(r.oracle); i++)
        str_addf(&all, "%s\n", fleet_oracle_violation(r.oracle, i));
    out->violations = all.len ? str_take(&all) : NULL;
    out->simulated = (uint64_t)(loop_now(r.loop) - r.begun) / 1000000;
    end(&r);
}
