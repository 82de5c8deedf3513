/* probe lease NS NAME IDENTITY [--lease MS] [--renew MS] [--retry MS] [--act FILE]: a candidate for
 * a Lease. Prints a line when it starts or stops leading and when it sees another leader.
 *
 * With --act it does what a leader is for: every few milliseconds, as long as leader_is(), it
 * appends a line "IDENTITY FENCE MICROSECONDS" (monotonic clock) to the file.
 *
 * Standard input: "resign" gives the Lease up and ends; the end of input just ends. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsonw.h"
#include "base/timefmt.h"
#include "kube/leader.h"
#include "probe.h"
#include "probe_cluster.h"

enum { ACT_MS = 5 };

struct candidate {
    struct probe probe;
    struct leader *leader;
    const char *identity;
    struct loop_timer *act;
    int act_fd;
};

static void say(const char *type, const char *key, const char *value, int32_t fence) {
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "type", type);
    if (key)
        jsonw_kstr(&j, key, value);
    else
        jsonw_kint(&j, "fence", fence);
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
}

static void on_started(void *arg, int32_t fence) {
    (void)arg;
    say("STARTED", NULL, NULL, fence);
}

static void on_stopped(void *arg, const char *why) {
    (void)arg;
    say("STOPPED", "why", why, 0);
}

static void on_observed(void *arg, const char *identity) {
    (void)arg;
    say("LEADER", "identity", identity, 0);
}

static void on_resigned(void *arg) {
    struct candidate *c = arg;
    loop_stop(c->probe.loop);
}

static void on_act(void *arg) {
    struct candidate *c = arg;
    loop_timer_set(c->act, MSEC(ACT_MS));
    if (!leader_is(c->leader))
        return;
    char line[256];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int n = snprintf(line, sizeof line, "%s %d %" PRId64 "\n", c->identity, leader_fence(c->leader),
                     (int64_t)now.tv_sec * USEC_PER_SEC + now.tv_nsec / 1000);
    if (write(c->act_fd, line, (size_t)n) != n)
        abort();
}

static void on_line(void *arg, char *line) {
    struct candidate *c = arg;
    if (!line)
        loop_stop(c->probe.loop);
    else if (!strcmp(line, "resign"))
        leader_resign(c->leader, on_resigned, c);
}

int probe_lease(int argc, char **argv) {
    struct candidate c = {0};
    const char *lease, *renew, *retry;
    probe_connect(&c.probe, &argc, argv);
    struct leader_options opts = {
        .lease = (lease = probe_option(&argc, argv, "--lease")) ? MSEC(atol(lease)) : 0,
        .renew = (renew = probe_option(&argc, argv, "--renew")) ? MSEC(atol(renew)) : 0,
        .retry = (retry = probe_option(&argc, argv, "--retry")) ? MSEC(atol(retry)) : 0,
        .seed = (uint64_t)getpid(),
        .started = on_started,
        .stopped = on_stopped,
        .observed = on_observed,
        .arg = &c,
    };
    const char *act = probe_option(&argc, argv, "--act");
    if (argc != 4) {
        fprintf(stderr, "usage: probe lease NS NAME IDENTITY [options]\n");
        return 64;
    }
    opts.ns = argv[1];
    opts.name = argv[2];
    opts.identity = c.identity = argv[3];
    _cleanup_err_ struct err err = ERR_INIT;
    if (leader_new(&c.probe.conn.client, &opts, &c.leader, &err)) {
        fprintf(stderr, "probe: %s\n", err_msg(&err));
        probe_disconnect(&c.probe);
        return 64;
    }
    if (act) {
        c.act_fd = open(act, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        c.act = loop_timer_new(c.probe.loop, on_act, &c);
        loop_timer_set(c.act, MSEC(ACT_MS));
    }
    probe_stdin(&c.probe, on_line, &c);
    loop_run(c.probe.loop);
    loop_timer_free(c.act);
    leader_free(c.leader);
    probe_disconnect(&c.probe);
    return 0;
}
