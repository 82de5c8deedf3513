/* What the files of the harmful transport share. See chaos.h for what it is. */
#ifndef TESTS_SIM_CHAOS_INTERNAL_H
#define TESTS_SIM_CHAOS_INTERNAL_H

#include "base/prng.h"
#include "base/vec.h"
#include "chaos.h"

enum call_state {
    CALL_ON_ITS_WAY, /* to the server */
    CALL_ANSWERED,   /* carried out or not; the answer is on its way back */
    CALL_STREAMING,
    CALL_SILENT, /* nothing will come; waits for its sender's patience */
};

/* A piece of a stream that is still on its way. */
struct piece {
    int64_t made, due;
    char *p;
    size_t len;
};

/* Up to when something is known. */
struct known {
    char resource[32], selected[64];
    int64_t until;
};

struct kube_call {
    struct chaos *chaos;
    struct kube_call *next, **link;
    struct loop_timer *timer, *limit, *quiet;
    const struct kube_handler *handler; /* NULL: its sender has gone */
    void *arg;
    char *accept, *content_type, *method, *path, *body;
    struct chaos_request req;
    enum call_state state;
    int fault; /* enum chaos_fault, or -1 */
    bool applied;
    bool counted;
    struct api_reply reply;
    bool served; /* `reply` is the server's */
    int64_t served_at;
    int64_t idle;
    bool overdue; /* its sender's patience has ended while it was frozen */
    bool *gone;   /* set when the call is freed while a callback runs */
    /* streams */
    int64_t lag, break_at, silent_at; /* the last two: 0 for never */
    VEC(struct piece) pieces;
    bool ended;
    bool spoke;     /* its first piece has arrived */
    int64_t unread; /* since when its reader is frozen, and has read nothing of it; 0: it reads */
};

struct chaos {
    struct kube_transport base;
    struct loop *loop;
    struct api *api;
    struct pace *pace;
    struct chaos_options opts;
    struct prng random;
    struct kube_call *calls;
    uint64_t number;
    unsigned process;
    bool quiet, killing, kill_wanted, frozen;
    struct loop_timer *kill_timer;
    int64_t outage;          /* until then */
    VEC(struct known) known; /* of streams and lists that are over */
};

/* chaos.c */
int64_t chaos_wall(const struct chaos *c);
/* From the process to the server, or back. */
int64_t chaos_latency(struct chaos *c);

/* chaos_known.c */
/* A list was answered in full. */
void chaos_known_list(const struct kube_call *s);
/* What a stream has told, which is about to end. */
void chaos_known_stream(const struct kube_call *s);

/* chaos_call.c */
void chaos_call_free(struct kube_call *s);
/* Its sender hears no more of it; what is on its way may still arrive. */
void chaos_call_abandon(struct kube_call *s);
/* Its fault has happened. */
void chaos_call_count(struct kube_call *s);
/* For timers: its next moment has come; its sender's patience has ended. */
void chaos_call_due(void *arg);
void chaos_call_timed_out(void *arg);

#endif
