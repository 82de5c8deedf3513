/* What is said of a rollout: its phase, what it waits for, and its status as it is written. */
#include "engine/rollout_internal.h"

#include "base/mem.h"
#include "engine/approval.h"
#include "engine/reason.h"
#include "engine/stop.h"

enum {
    CURRENT_MAX = 1000, /* nodes under way that are named in the status */
    NAMED_MAX = 3,      /* nodes in a sentence */
};

/* --- sentences --- */

/* "w1, w2, w3 and 4 more" */
static void add_names(struct str *out, const char *const *names, size_t n) {
    for (size_t i = 0; i < n && i < NAMED_MAX; i++)
        str_addf(out, "%s%s", i ? ", " : "", names[i]);
    if (n > NAMED_MAX)
        str_addf(out, " and %zu more", n - NAMED_MAX);
}

static void add_progress(struct str *out, const struct rollout_survey *s) {
    str_addf(out, "%d of %d nodes are done", s->counts.complete, s->counts.total);
    if (s->counts.current)
        str_addf(out, ", %d under way", s->counts.current);
    if (s->counts.failed)
        str_addf(out, ", %d failed", s->counts.failed);
}

static void add_failures(struct str *out, const struct rollout_survey *s) {
    if (s->missing.len) {
        add_names(out, (const char *const *)s->missing.p, s->missing.len);
        str_addf(out, " %s not there", s->missing.len == 1 ? "is" : "are");
    }
    if (s->failed.len) {
        str_add(out, s->missing.len ? ", " : "");
        add_names(out, s->failed.p, s->failed.len);
        str_addf(out, " failed");
    }
    str_addf(out, "; at most %u may fail", s->max_failed);
}

static void add_unclear(struct str *out, const struct rollout_survey *s) {
    str_addf(out, "node %s: %s", s->unclear,
             s->unclear_policies ? "more than one policy has it"
                                 : "no policy has it that this rollout may use");
}

/* --- the verdict --- */

static void wait_for(struct rollout_verdict *v, enum blocker_code code) {
    v->waits = true;
    v->wait = own_wait_for(code, "", str_get(&v->wait_text));
}

static void say(struct rollout_verdict *v, const char *phase, const char *reason) {
    v->phase = phase;
    v->reason = reason;
}

static bool soaks(const struct rollouts *rs, const struct rollout_survey *s,
                  struct rollout_verdict *v) {
    v->until = s->last_done + s->soak;
    if (!s->soak || !s->last_done || rs->now.wall >= v->until || !s->next.len) {
        v->until = 0;
        return false;
    }
    char text[TIMEFMT_LEN];
    str_addf(&v->wait_text,
             "the next node is begun at %s, when the last one has been back long enough",
             time_format(v->until, false, text));
    wait_for(v, BLOCKER_SOAK_TIME);
    return true;
}

/* Before the first node of a policy that wants it. */
static bool needs_approval(const struct rollout *r, const struct rollout_survey *s,
                           struct rollout_verdict *v) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    bool wanted = false;
    for (size_t i = 0; i < s->next.len; i++)
        wanted = wanted || s->next.p[i].rules->approval;
    if (!wanted || approval_of_object(&r->meta, &arena))
        return false;
    str_addf(&v->wait_text,
             "a policy of its nodes wants somebody to approve of it: 'slipway approve rollout/%s'",
             r->meta.name);
    wait_for(v, BLOCKER_APPROVAL_NEEDED);
    return true;
}

/* One of those that were begun, for what that waits. */
static bool waits_with(const struct maintenance *m, struct rollout_verdict *v) {
    enum blocker_code code = m ? blocker_find(m->blocker->code) : BLOCKER_CODES;
    if (code == BLOCKER_CODES)
        return false;
    str_addf(&v->wait_text, "node %s: %s", m->node, strna(m->blocker->message));
    wait_for(v, code);
    v->wait.object = strna(m->blocker->object);
    v->wait.deadline = m->blocker->deadline;
    v->wait.then = m->blocker->then;
    return true;
}

/* Nothing is done to what others have made, and it need not ever go away. */
static void name_taken(const struct rollout_survey *s, struct rollout_verdict *v) {
    const struct meta *meta = &s->taken->meta;
    str_addf(&v->wait_text,
             "Maintenance %s is there already, of node %s, and was not made by this rollout, which "
             "would make one of that name: %s",
             meta->name, strna(s->taken->node),
             meta->deleted ? "it is being deleted"
                           : "delete it, or make a Rollout of another name");
    wait_for(v, BLOCKER_NAME_TAKEN);
    v->wait.object = meta->name;
}

/* It goes on: with what, or what it waits for. */
static void judge_going(const struct rollouts *rs, const struct rollout *r,
                        const struct rollout_survey *s, struct rollout_verdict *v) {
    say(v, "Progressing", REASON_PROGRESSING);
    add_progress(&v->message, s);
    if (s->unclear) {
        str_add(&v->message, "; ");
        add_unclear(&v->message, s);
    }
    if (needs_approval(r, s, v) || soaks(rs, s, v))
        return;
    v->begins = !s->retry; /* what is to be begun again is known when that is written */
    if (waits_with(s->gated, v))
        return;
    if (s->unclear && !s->next.len && !s->current.len) {
        add_unclear(&v->wait_text, s);
        wait_for(v, BLOCKER_POLICY_UNCLEAR);
    } else if (s->next.len) {
        size_t n = s->next.len;
        str_addf(&v->wait_text, "%zu %s until there is a slot for %s", n,
                 n == 1 ? "node waits" : "nodes wait", n == 1 ? "it" : "them");
        wait_for(v, BLOCKER_MAX_UNAVAILABLE);
    } else if (s->taken) {
        name_taken(s, v);
    } else {
        (void)waits_with(s->waits, v); /* all are begun */
    }
}

void rollout_judge(const struct rollouts *rs, const struct rollout *r,
                   const struct rollout_survey *s, struct rollout_verdict *v) {
    *v = (struct rollout_verdict){.message = STR_INIT, .wait_text = STR_INIT};
    const struct rollout_counts *c = &s->counts;
    _cleanup_free_ char *stopped =
        stop_text((const struct config_map *)store_get(rs->opts.maps, rs->opts.ns, STOP_MAP));
    if (s->problem.code) {
        say(v, "Failed", REASON_BAD_NODES);
        str_add(&v->message, err_msg(&s->problem));
    } else if (!c->total) {
        say(v, "Failed", REASON_NO_NODES);
        str_add(&v->message, "its nodeSelector selects no node that was there when it was made");
    } else if ((size_t)c->failed > s->max_failed) {
        say(v, "Failed", REASON_TOO_MANY);
        add_failures(&v->wait_text, s);
        str_addf(&v->message, "no further node is begun: %s", str_get(&v->wait_text));
        wait_for(v, BLOCKER_TOO_MANY_FAILED);
    } else if (c->complete + c->failed == c->total && !s->current.len) {
        say(v, "Complete", c->failed ? REASON_SOME_FAILED : REASON_ALL_DONE);
        add_progress(&v->message, s);
    } else if (stopped || r->paused == 1) {
        say(v, "Paused", stopped ? REASON_ALL_PAUSED : REASON_PAUSED);
        str_add(&v->wait_text, stopped ? stopped : "spec.paused is true: no further node is begun");
        add_progress(&v->message, s);
        wait_for(v, BLOCKER_MANUAL_HOLD);
    } else {
        judge_going(rs, r, s, v);
    }
}

void rollout_verdict_done(struct rollout_verdict *v) {
    str_done(&v->message);
    str_done(&v->wait_text);
}

/* --- writing --- */

static bool counts_differ(const struct rollout_counts *a, const struct rollout_counts *b) {
    return a->total != b->total || a->waiting != b->waiting || a->current != b->current ||
           a->complete != b->complete || a->failed != b->failed;
}

static bool names_differ(const char *const *had, const struct rollout_survey *s) {
    size_t n = MIN_OF(s->current.len, (size_t)CURRENT_MAX);
    if (list_len(had) != n)
        return true;
    for (size_t i = 0; i < n; i++)
        if (!streq(had[i], s->current.p[i]))
            return true;
    return false;
}

static void print_memory(const struct rollout *r, const struct rollout_survey *s, struct str *done,
                         struct str *failed) {
    if (s->unreadable) {
        str_add(done, strna(r->done_nodes));
        str_add(failed, strna(r->failed_nodes));
        return;
    }
    nodeset_print(&s->done, done);
    nodeset_print(&s->given_up, failed);
}

/* What was said is heard when everything is gone that it was said of. */
static bool hears_retry(const struct rollout_survey *s) {
    return s->retry && !s->retry_waits && !s->unreadable;
}

static void write_counts(struct jsonw *w, const struct rollout_counts *c) {
    jsonw_kbegin(w, "counts", '{');
    jsonw_kint(w, "total", c->total);
    jsonw_kint(w, "waiting", c->waiting);
    jsonw_kint(w, "current", c->current);
    jsonw_kint(w, "complete", c->complete);
    jsonw_kint(w, "failed", c->failed);
    jsonw_end(w);
}

static void write_conditions(const struct rollouts *rs, struct jsonw *w, const struct rollout *r,
                             const struct rollout_verdict *v) {
    const char *message = str_get(&v->message);
    bool complete = streq(v->phase, "Complete"), failed = streq(v->phase, "Failed");
    const struct own_said said[] = {
        {"Complete", complete, v->reason, complete ? message : ""},
        {"Failed", failed, v->reason, failed ? message : ""},
        {"Progressing", streq(v->phase, "Progressing"), v->reason, message},
    };
    jsonw_kbegin(w, "conditions", '[');
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        own_write_condition(w, r->conditions, r->meta.generation, rs->now.wall, &said[i]);
    jsonw_end(w);
}

bool rollout_status(const struct rollouts *rs, const struct rollout *r,
                    const struct rollout_survey *s, const struct rollout_verdict *v,
                    struct str *body, bool *urgent) {
    const struct own_wait *wait = v->waits ? &v->wait : NULL;
    _cleanup_str_ struct str done = STR_INIT, failed = STR_INIT;
    print_memory(r, s, &done, &failed);
    bool same_phase = str_same(r->phase, v->phase) && str_same(r->phase_reason, v->reason);
    *urgent = !same_phase;
    bool same = same_phase && r->observed_generation == r->meta.generation &&
                own_blocker_is(r->blocker, wait) && !counts_differ(&r->counts, &s->counts) &&
                !names_differ(r->current, s) && streq(strna(r->done_nodes), str_get(&done)) &&
                streq(strna(r->failed_nodes), str_get(&failed)) && !hears_retry(s);
    struct jsonw w;
    own_patch_begin(&w, body, &r->meta);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_kint(&w, "observedGeneration", r->meta.generation);
    jsonw_kstr(&w, "phase", v->phase);
    jsonw_kstr(&w, "reason", v->reason);
    if (!same_phase)
        own_write_time(&w, "since", rs->now.wall);
    write_counts(&w, &s->counts);
    jsonw_kbegin(&w, "current", '[');
    for (size_t i = 0; i < s->current.len && i < CURRENT_MAX; i++)
        jsonw_str(&w, s->current.p[i]);
    jsonw_end(&w);
    jsonw_kstr(&w, "doneNodes", str_get(&done));
    jsonw_kstr(&w, "failedNodes", str_get(&failed));
    if (s->last_done)
        own_write_time(&w, "lastDone", s->last_done);
    if (hears_retry(s))
        jsonw_kstr(&w, "retried", s->retry);
    own_write_blocker(&w, r->blocker, wait, rs->now.wall);
    write_conditions(rs, &w, r, v);
    jsonw_end(&w);
    jsonw_end(&w);
    return !same;
}
