/* People: what the plan lets happen to the cluster, to its machines and to maintenances, and what
 * they look after, so that everything can come to an end. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "cluster_gen.h"
#include "draw.h"
#include "fleet_run.h"
#include "sim/fleet/machine.h"

#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define LEASE   "/apis/coordination.k8s.io/v1/namespaces/" FLEET_NS "/leases/slipway-controller"

/* --- talking to the cluster --- */

int fleet_request(struct fleet_run *r, const char *method, const char *path, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *body = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *c = body; *c; c++)
        if (*c == '\'')
            *c = '"';
    fleet_oracle_people(r->oracle, true);
    int code = cluster_ask(r->sim, method, path, *body ? body : NULL);
    fleet_oracle_people(r->oracle, false);
    fleet_trace(r, "** %s %s %s: %d", method, path, body, code);
    return code;
}

json_t *fleet_get(struct fleet_run *r, const char *path) {
    struct api_reply reply = {0};
    api_serve(sim_api(r->sim),
              &(struct api_request){.method = "GET", .target = path, .accept = "application/json"},
              &reply);
    struct str text = reply.body;
    reply.body = STR_INIT;
    while (reply.stream && api_stream_pull(reply.stream, &text) == API_MORE) {
    }
    json_t *v = reply.code == 200 ? json_loadb(text.p, text.len, 0, NULL) : NULL;
    str_done(&text);
    api_reply_done(&reply);
    return v;
}

static void node_name(const struct fleet_run *r, unsigned pick, char out[static 32]) {
    (void)snprintf(out, 32, "w%u", pick % r->plan.nodes + 1);
}

static bool cordon(struct fleet_run *r, const char *node, bool on) {
    const struct record *rec = shelf_get(sim_fleet(r->sim)->nodes->shelf, NULL, node);
    if (!rec || record_as(node, rec)->unschedulable == on)
        return false; /* kubectl writes nothing */
    _cleanup_free_ char *path = xasprintf("/api/v1/nodes/%s", node);
    return fleet_request(r, "PATCH", path, "{'spec':{'unschedulable':%s}}", on ? "true" : "null") ==
           200;
}

/* --- what is begun and ended --- */

static void end(struct fleet_chore *c) {
    struct fleet_run *r = c->run;
    _cleanup_free_ char *path = NULL;
    struct machine *m;
    switch (c->event.act) {
    case FLEET_PAUSE:
        path = xasprintf(MAINTENANCES "/%s", c->name);
        (void)fleet_request(r, "PATCH", path, "{'spec':{'paused':false}}");
        break;
    case FLEET_CORDON:
        (void)cordon(r, c->name, false);
        break;
    case FLEET_HANG:
        m = machine_find(sim_fleet(r->sim), c->name);
        if (m)
            machine_reboot(m); /* as one does with a machine that hangs */
        break;
    case FLEET_REMOVE:
        (void)fleet_request(
            r, "POST", "/api/v1/nodes",
            "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s','pool':'%s',"
            "'topology.kubernetes.io/zone':'z%u'},'annotations':{'sim.slipway.dev/machine':"
            "'','sim.slipway.dev/boot':'10s-90s'}}}",
            c->name, c->name, (atoi(c->name + 1) - 1) % 2 ? "b" : "a",
            (unsigned)(atoi(c->name + 1) - 1) % 3);
        break;
    case FLEET_BUDGET:
        path = xasprintf(BUDGETS "/%s", c->name);
        (void)fleet_request(r, "PATCH", path, "{'spec':{'maxUnavailable':1}}");
        break;
    default:
        fleet_rollouts_end(r, &c->event, c->name);
    }
}

static void begin(struct fleet_chore *c) {
    struct fleet_run *r = c->run;
    (void)snprintf(r->aim, sizeof r->aim, "%s", c->name);
    node_name(r, c->event.pick, r->aim_node);
    fleet_trace(r, "** %s, at its moment: %s", fleet_act_word(c->event.act), c->event.moment);
    fleet_act(r, &c->event);
    *r->aim = *r->aim_node = '\0';
}

static void on_chore(void *arg) {
    struct fleet_chore *c = arg;
    struct fleet_run *r = c->run;
    pace_catch_up(r->pace);
    if (c->begins)
        begin(c);
    else
        end(c);
    pace_update(r->pace);
    for (size_t i = 0; i < r->chores.len; i++)
        if (r->chores.p[i] == c) {
            r->chores.p[i] = r->chores.p[--r->chores.len];
            break;
        }
    loop_timer_free(c->timer);
    free(c);
}

static struct fleet_chore *later(struct fleet_run *r, const struct fleet_event *e, const char *name,
                                 int64_t delay) {
    struct fleet_chore *c = xnew(struct fleet_chore);
    *c = (struct fleet_chore){.run = r, .event = *e};
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    c->timer = loop_timer_new(r->loop, on_chore, c);
    loop_timer_set(c->timer, delay);
    *vec_push(&r->chores) = c;
    return c;
}

void fleet_end_later(struct fleet_run *r, const struct fleet_event *e, const char *name) {
    (void)later(r, e, name, e->lasts);
}

void fleet_moment(struct fleet_run *r, const char *moment, const char *node,
                  const char *maintenance) {
    for (size_t i = 0; i < r->armed.len; i++) {
        struct fleet_event e = r->armed.p[i];
        if (!streq(e.moment, moment))
            continue;
        r->armed.p[i] = r->armed.p[--r->armed.len];
        e.pick = e.pick - e.pick % r->plan.nodes + (unsigned)atoi(node + 1) - 1;
        later(r, &e, maintenance, e.pick & 64 ? 0 : MSEC(e.pick / 128 % 60))->begins = true;
        return;
    }
}

/* --- acts --- */

/* One that is not over, and is not being deleted. */
static bool some_maintenance(struct fleet_run *r, unsigned which, char out[static 32]) {
    if (*r->aim) {
        memcpy(out, r->aim, sizeof r->aim);
        return true;
    }
    _cleanup_json_ json_t *list = fleet_get(r, MAINTENANCES);
    const json_t *items = json_object_get(list, "items"), *found[64];
    size_t n = 0, i;
    const json_t *one;
    json_array_foreach(items, i, one) {
        const char *phase = strna(json_str(json_object_get(one, "status"), "phase"));
        bool over = streq(phase, "Complete") || streq(phase, "Failed") || streq(phase, "Cancelled");
        if (!over && !json_str(json_object_get(one, "metadata"), "deletionTimestamp") &&
            n < ARRAY_LEN(found))
            found[n++] = one;
    }
    if (n)
        (void)snprintf(out, 32, "%s",
                       json_str(json_object_get(found[which % n], "metadata"), "name"));
    return n;
}

static void maintain(struct fleet_run *r, const struct fleet_event *e) {
    static const char *const what[] = {
        "'operation':'Drain'",
        "'operation':'Reboot','executor':{'sim':{}}",
        "'operation':'Reboot','executor':{'sim':{}}",
        "'operation':'Shutdown','executor':{'sim':{}}",
        "'operation':'Reboot','executor':{'exec':{'command':['true']}}",
        "'operation':'Reboot','executor':{'fleetlock':{}}",
        "'operation':'Reboot','executor':{'fleetlock':{}}",
    };
    char name[32];
    node_name(r, e->pick, name);
    (void)fleet_request(
        r, "POST", MAINTENANCES,
        "{'apiVersion':'slipway.dev/v1alpha1','kind':'Maintenance','metadata':{'name':"
        "'m%u'},'spec':{'node':'%s',%s}}",
        ++r->maintenances, name, what[e->pick / 16 % ARRAY_LEN(what)]);
}

static bool is_cordoned(struct fleet_run *r, const char *node) {
    const struct record *rec = shelf_get(sim_fleet(r->sim)->nodes->shelf, NULL, node);
    return rec && record_as(node, rec)->unschedulable;
}

/* Its Maintenance was taken away by force: nobody knows whether its node was told to go. */
static bool is_abandoned(struct fleet_run *r, const json_t *slot) {
    const char *by = strna(json_str(slot, "by"));
    if (!str_starts(by, "maintenance/"))
        return false;
    _cleanup_free_ char *path = xasprintf(MAINTENANCES "/%s", by + strlen("maintenance/"));
    _cleanup_json_ json_t *m = fleet_get(r, path);
    return !m;
}

/* What was not granted is let go, and what is a Maintenance's, in whatever state; and, by those who
 * look after it, what was granted to a node that somebody has uncordoned since, or is nobody's:
 * nothing else leads back from there. */
static bool may_unlock(struct fleet_run *r, const json_t *slot, bool anyway) {
    const char *state = strna(json_str(slot, "state"));
    if (!anyway)
        return streq(state, "taken") || streq(state, "drained") ||
               (!streq(state, "returned") &&
                str_starts(strna(json_str(slot, "by")), "maintenance/"));
    return streq(state, "granted") && !str_same(json_str(slot, "operation"), "Drain") &&
           (!is_cordoned(r, strna(json_str(slot, "node"))) || is_abandoned(r, slot));
}

/* The node whose moment it is, which is being put back for a Maintenance. */
static bool aimed_at(const struct fleet_run *r, const json_t *slot) {
    return *r->aim_node && str_same(json_str(slot, "node"), r->aim_node) &&
           str_same(json_str(slot, "state"), "returned") &&
           str_starts(strna(json_str(slot, "by")), "maintenance/");
}

/* As `slipway unlock` does it. */
static void unlock_in(struct fleet_run *r, json_t *map, bool anyway) {
    json_t *data = json_object_get(map, "data"), *slot;
    _cleanup_json_ json_t *record = json_loads(strna(json_str(data, "slots")), 0, NULL);
    size_t i;
    json_array_foreach(json_object_get(record, "slots"), i, slot) {
        if (aimed_at(r, slot)) /* with an editor */
            json_array_remove(json_object_get(record, "slots"), i);
        else if (!may_unlock(r, slot, anyway))
            continue;
        else
            json_object_set_new(slot, "state", json_string("returned"));
        _cleanup_free_ char *text = json_dumps(record, JSON_COMPACT);
        json_object_set_new(data, "slots", json_string(text));
        _cleanup_free_ char *body = json_dumps(map, JSON_COMPACT),
                            *path = xasprintf(MAPS "/%s",
                                              json_str(json_object_get(map, "metadata"), "name"));
        fleet_oracle_people(r->oracle, true);
        int code = cluster_ask(r->sim, "PUT", path, body);
        fleet_oracle_people(r->oracle, false);
        fleet_trace(r, "** unlock %s: %d", json_str(slot, "node"), code);
        return;
    }
}

/* With kubectl: some take the object away, and some what is in it. */
static void lose_record(struct fleet_run *r, unsigned pick) {
    _cleanup_json_ json_t *list = fleet_get(r, MAPS "?labelSelector=slipway.dev/slots");
    json_t *items = json_object_get(list, "items");
    size_t n = json_array_size(items);
    if (!n)
        return;
    const json_t *map = json_array_get(items, pick / 4 % n);
    _cleanup_free_ char *path =
        xasprintf(MAPS "/%s", json_str(json_object_get(map, "metadata"), "name"));
    fleet_oracle_people(r->oracle, true);
    if (pick % 3 == 0) /* as with the namespace of both */
        (void)fleet_request(r, "DELETE", LEASE, "%s", "");
    if (pick % 4 < 2)
        (void)fleet_request(r, "DELETE", path, "%s", "");
    else
        (void)fleet_request(r, "PATCH", path, "%s",
                            pick % 4 == 2 ? "{\"data\":null}" : "{\"data\":{\"slots\":\"\"}}");
    fleet_oracle_people(r->oracle, false);
}

static void unlock(struct fleet_run *r, bool anyway) {
    _cleanup_json_ json_t *list = fleet_get(r, MAPS "?labelSelector=slipway.dev/slots");
    size_t i;
    json_t *map;
    json_array_foreach(json_object_get(list, "items"), i, map) unlock_in(r, map, anyway);
}

static void resize(struct fleet_run *r, const struct fleet_event *e) {
    if (!r->plan.policies)
        return;
    const struct fleet_policy *p = &r->plan.policy[e->pick % r->plan.policies];
    _cleanup_free_ char *path = xasprintf("/apis/slipway.dev/v1alpha1/policies/%s", p->name);
    if (p->percent)
        (void)fleet_request(r, "PATCH", path, "{'spec':{'maxUnavailable':'%u%%'}}",
                            20 + e->pick / 8 % 30);
    else
        (void)fleet_request(r, "PATCH", path, "{'spec':{'maxUnavailable':%u}}",
                            1 + e->pick / 8 % fleet_plan_most(&r->plan));
}

static void close_budget(struct fleet_run *r, const struct fleet_event *e) {
    char name[32];
    (void)snprintf(name, sizeof name, "app-%u", e->pick % r->plan.deployments);
    _cleanup_free_ char *path = xasprintf(BUDGETS "/%s", name);
    if (fleet_request(r, "PATCH", path, "{'spec':{'maxUnavailable':0}}") == 200)
        fleet_end_later(r, e, name);
}

static void act_on_machine(struct fleet_run *r, const struct fleet_event *e, const char *name) {
    struct machine *m = machine_find(sim_fleet(r->sim), name);
    if (!m || m->state != MACHINE_UP)
        return;
    if (e->act == FLEET_REBOOT) {
        machine_reboot(m);
    } else {
        machine_hang(m);
        fleet_end_later(r, e, name);
    }
}

static void act_on_client(struct fleet_run *r, const struct fleet_event *e) {
    struct fleet_client *c = &r->clients[e->pick % r->plan.nodes];
    if (e->act == FLEET_NO_BOOT)
        c->no_boot = true;
    else
        c->silent = loop_now(r->loop) + e->lasts;
}

/* No scheduler is asked, and no cordon keeps it out. */
static void bind(struct fleet_run *r, const char *node) {
    (void)fleet_request(r, "POST", "/api/v1/namespaces/default/pods",
                        "{'metadata':{'name':'late-%u'},'spec':{'nodeName':'%s','containers':"
                        "[{'name':'main','image':'registry.test/late:1'}]}}",
                        r->late++, node);
}

static void act_on_maintenance(struct fleet_run *r, const struct fleet_event *e) {
    char name[32];
    if (!some_maintenance(r, e->pick, name))
        return;
    _cleanup_free_ char *path = xasprintf(MAINTENANCES "/%s", name);
    if (e->act == FLEET_CANCEL && e->pick / 32 % 4 == 0) /* by force: it is gone at once */
        (void)fleet_request(r, "PATCH", path, "{'metadata':{'finalizers':null}}");
    if (e->act == FLEET_CANCEL)
        (void)fleet_request(r, "DELETE", path, "%s", "");
    else if (fleet_request(r, "PATCH", path, "{'spec':{'paused':true}}") == 200)
        fleet_end_later(r, e, name);
}

void fleet_act(struct fleet_run *r, const struct fleet_event *e) {
    char name[32];
    node_name(r, e->pick, name);
    _cleanup_free_ char *path = xasprintf("/api/v1/nodes/%s", name);
    pace_catch_up(r->pace);
    switch (e->act) {
    case FLEET_KILL:
        fleet_kill(&r->replicas[e->pick % r->plan.replicas]);
        break;
    case FLEET_FREEZE:
        fleet_freeze(&r->replicas[e->pick % r->plan.replicas], e->lasts);
        break;
    case FLEET_OUTAGE:
        chaos_outage(r->replicas[e->pick / 8 % r->plan.replicas].chaos,
                     loop_now(r->loop) + e->lasts);
        break;
    case FLEET_MAINTENANCE:
        maintain(r, e);
        break;
    case FLEET_CANCEL:
    case FLEET_PAUSE:
        act_on_maintenance(r, e);
        break;
    case FLEET_RESIZE:
        resize(r, e);
        break;
    case FLEET_CORDON: /* in a large cluster one may stay so */
        if (cordon(r, name, true) && (r->plan.nodes < 5 || e->pick & 1))
            fleet_end_later(r, e, name);
        break;
    case FLEET_LIFT:
        (void)cordon(r, name, false);
        break;
    case FLEET_REBOOT:
    case FLEET_HANG:
        act_on_machine(r, e, name);
        break;
    case FLEET_REMOVE:
        if (fleet_request(r, "DELETE", path, "%s", "") == 200)
            fleet_end_later(r, e, name);
        break;
    case FLEET_UNLOCK:
        unlock(r, false);
        break;
    case FLEET_FORGET:
    case FLEET_NO_BOOT:
        act_on_client(r, e);
        break;
    case FLEET_LEASE:
        (void)fleet_request(r, "DELETE", LEASE, "%s", "");
        break;
    case FLEET_RECORD:
        lose_record(r, e->pick);
        break;
    case FLEET_BUDGET:
        close_budget(r, e);
        break;
    case FLEET_BIND:
        bind(r, name);
        break;
    default:
        fleet_rollouts_act(r, e);
    }
    pace_update(r->pace);
}

/* --- looking after it --- */

static int64_t age_of(const struct fleet_run *r, const json_t *m) {
    int64_t since = 0;
    const char *text = json_str(json_object_get(m, "status"), "since");
    return text && time_parse(text, strlen(text), &since) ? loop_wall(r->loop) - since : 0;
}

/* Somebody has to say how one goes on whose operation has failed. */
static void say(struct fleet_run *r, const json_t *m, const char *name) {
    static const char *const words[] = {"retry", "skip", "abort"};
    const json_t *meta = json_object_get(m, "metadata");
    if (json_str(json_object_get(meta, "annotations"), "slipway.dev/word"))
        return;
    const char *word = one_of(&r->random, words);
    _cleanup_free_ char *path = xasprintf(MAINTENANCES "/%s", name);
    fleet_oracle_word(r->oracle, name, streq(word, "retry"));
    (void)fleet_request(r, "PATCH", path, "{'metadata':{'annotations':{'slipway.dev/word':'%s'}}}",
                        word);
}

/* A machine that was shut down is turned on by hand. */
static void turn_on(struct fleet_run *r, const char *node) {
    struct machine *m = machine_find(sim_fleet(r->sim), node);
    if (m && m->state == MACHINE_DOWN) {
        fleet_trace(r, "** %s is turned on", node);
        machine_on(m);
    }
}

static void look_after(struct fleet_run *r, const json_t *m) {
    const json_t *spec = json_object_get(m, "spec");
    bool deleted = json_str(json_object_get(m, "metadata"), "deletionTimestamp");
    const char *name = json_str(json_object_get(m, "metadata"), "name"),
               *phase = strna(json_str(json_object_get(m, "status"), "phase")),
               *operation = strna(json_str(spec, "operation"));
    int64_t age = age_of(r, m);
    bool held = streq(phase, "Granted") || streq(phase, "Draining") || streq(phase, "Drained") ||
                streq(phase, "Queued");
    const json_t *blocker = json_object_get(json_object_get(m, "status"), "blocker");
    bool refused = streq(strna(json_str(blocker, "code")), "ExecutorRefused");
    bool asked = json_object_get(json_object_get(spec, "executor"), "fleetlock"),
         one_of_many = json_object_get(json_object_get(m, "metadata"), "ownerReferences");
    /* And of one that seems to come to nothing. */
    bool under_way = streq(phase, "Operating") || streq(phase, "Returning");
    if ((streq(phase, "Halted") && age > SEC(30)) || (under_way && age > SEC(200)))
        say(r, m, name);
    if (streq(operation, "Shutdown") && (streq(phase, "Operating") || streq(phase, "Returning")) &&
        age > SEC(40))
        turn_on(r, strna(json_str(spec, "node")));
    /* What is over is cleared away, by some. */
    bool over = streq(phase, "Complete") || streq(phase, "Failed") || streq(phase, "Cancelled");
    if (over && one_of_many && !deleted && chance(&r->random, 5)) {
        _cleanup_free_ char *path = xasprintf(MAINTENANCES "/%s", name);
        (void)fleet_request(r, "DELETE", path, "%s", "");
        return;
    }
    /* A node is held drained for as long as somebody wants; one whose client has no wish any more
     * waits for it for ever; and what nobody may carry out does not begin. */
    if (deleted)
        return;
    if (refused || (streq(operation, "Drain") && streq(phase, "Granted") && age > SEC(100)) ||
        (asked && held && age > (one_of_many ? SEC(1000) : SEC(3000)))) {
        _cleanup_free_ char *path = xasprintf(MAINTENANCES "/%s", name);
        if (!fleet_rollout_give_up(r, m)) /* which would begin it again */
            (void)fleet_request(r, "DELETE", path, "%s", "");
    }
}

/* What nobody else would put in order. */
static void tidy_up(struct fleet_run *r) {
    unlock(r, true);
    /* One that was shut down by what was taken back then. */
    for (unsigned i = 0; i < r->plan.nodes && loop_now(r->loop) / SEC(10) % 30 == 0; i++) {
        char name[32];
        node_name(r, i, name);
        turn_on(r, name);
    }
}

void fleet_people_round(struct fleet_run *r) {
    pace_catch_up(r->pace);
    _cleanup_json_ json_t *list = fleet_get(r, MAINTENANCES);
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(list, "items"), i, one) look_after(r, one);
    if (r->calm)
        tidy_up(r);
    pace_update(r->pace);
}

bool fleet_people_busy(const struct fleet_run *r) {
    return r->chores.len;
}

void fleet_people_done(struct fleet_run *r) {
    for (size_t i = 0; i < r->chores.len; i++) {
        loop_timer_free(r->chores.p[i]->timer);
        free(r->chores.p[i]);
    }
    vec_done(&r->chores);
    vec_done(&r->armed);
}
