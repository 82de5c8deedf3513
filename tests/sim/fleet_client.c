/* FleetLock clients, as Zincati is one: it reports that it is steady after each boot, asks for as
 * long as it has an update to finalize, and reboots when it is told that it may. */
#include <stdio.h>
#include <stdlib.h>

#include "base/timefmt.h"
#include "draw.h"
#include "fleet_run.h"
#include "sim/fleet/machine.h"

#define PATIENCE SEC(3) /* for an answer */

static void later(struct fleet_client *c, int64_t delay) {
    loop_timer_set(c->timer, MAX_OF(delay, MSEC(1)));
}

static void rest(struct fleet_client *c) {
    c->state = c->rounds ? CLIENT_RESTS : CLIENT_DONE;
    later(c, SEC(pick(&c->run->random, 1, 200)));
}

/* What it had begun has ended with the boot, and any boot finalizes what it had waiting. */
static void booted(struct fleet_client *c, const struct machine *m) {
    bool first = !*c->boot;
    (void)snprintf(c->boot, sizeof c->boot, "%s", m->boot_id);
    c->ticket = 0;
    if (!first && c->rounds && (c->state == CLIENT_ASKS || c->state == CLIENT_GOES))
        c->rounds--;
    /* One that does not say that it is back, and goes on as if nothing had happened. */
    bool rude = !first && c->rounds && chance(&c->run->random, 15);
    c->state = rude ? CLIENT_ASKS : CLIENT_REPORTS;
    c->again = 0;
    fleet_trace(c->run, "** client of %s is up%s", c->name, rude ? ", and does not report" : "");
}

static void ask(struct fleet_client *c) {
    struct fleet_run *r = c->run;
    bool steady = c->state == CLIENT_REPORTS;
    c->ticket = fleet_ask(r, c->name, steady);
    later(c, c->ticket ? PATIENCE : SEC(1));
}

static void on_timer(void *arg) {
    struct fleet_client *c = arg;
    struct fleet_run *r = c->run;
    pace_catch_up(r->pace);
    struct machine *m = machine_find(sim_fleet(r->sim), c->name);
    if (!m || m->state == MACHINE_DOWN) {
        later(c, SEC(1));
        return;
    }
    if (!streq(c->boot, m->boot_id))
        booted(c, m);
    if (c->ticket) { /* nobody has answered */
        c->ticket = 0;
        later(c, c->state == CLIENT_REPORTS ? SEC(5) : r->plan.ask_every);
        return;
    }
    switch (c->state) {
    case CLIENT_GOES:
        fleet_trace(r, "** %s reboots", c->name);
        machine_reboot(m);
        pace_update(r->pace);
        later(c, SEC(1));
        break;
    case CLIENT_RESTS:
        c->state = CLIENT_ASKS;
        later(c, 0);
        break;
    case CLIENT_DONE: /* it looks whether it was rebooted */
        later(c, SEC(10));
        break;
    default:
        if (c->silent > loop_now(r->loop))
            later(c, c->silent - loop_now(r->loop));
        else
            ask(c);
    }
}

static void answered(struct fleet_client *c, enum fleetlock_kind kind) {
    struct fleet_run *r = c->run;
    c->ticket = 0;
    if (kind != FLEETLOCK_OK) {
        later(c, c->state == CLIENT_REPORTS ? SEC(5) : r->plan.ask_every);
        return;
    }
    if (c->state == CLIENT_REPORTS) {
        rest(c);
        return;
    }
    r->result->grants++;
    if (c->no_boot) {
        c->no_boot = false;
        c->state = CLIENT_REPORTS;
        later(c, SEC(5));
        return;
    }
    /* A holder may ask again for ever, and go when it likes. */
    if (!c->again && chance(&r->random, 25))
        c->again = (unsigned)pick(&r->random, 2, 6);
    if (c->again > 1) {
        c->again--;
        later(c, MSEC(pick(&r->random, 1, 20000)));
        return;
    }
    c->again = 0;
    c->state = CLIENT_GOES;
    later(c, MSEC(pick(&r->random, 1, 5000)));
}

void fleet_client_answered(struct fleet_run *r, uint64_t ticket, enum fleetlock_kind kind) {
    for (unsigned i = 0; i < r->plan.nodes; i++)
        if (r->clients[i].ticket == ticket && ticket)
            answered(&r->clients[i], kind);
}

void fleet_client_begin(struct fleet_run *r, unsigned node) {
    struct fleet_client *c = &r->clients[node];
    *c = (struct fleet_client){.run = r, .node = node, .rounds = r->plan.rounds};
    c->no_boot = chance(&r->random, 25);
    (void)snprintf(c->name, sizeof c->name, "w%u", node + 1);
    c->timer = loop_timer_new(r->loop, on_timer, c);
    later(c, MSEC(pick(&r->random, 1, 30000)));
}

bool fleet_clients_done(const struct fleet_run *r) {
    for (unsigned i = 0; i < r->plan.nodes; i++)
        if (r->clients[i].timer && r->clients[i].state != CLIENT_DONE)
            return false;
    return true;
}
