/* The table of verbs. */
#include "base/str.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/verb.h"

extern const struct verb verb_abort;
extern const struct verb verb_apply;
extern const struct verb verb_approve;
extern const struct verb verb_blockers;
extern const struct verb verb_checks;
extern const struct verb verb_complete;
extern const struct verb verb_completion;
extern const struct verb verb_config;
extern const struct verb verb_controller;
extern const struct verb verb_cordon;
extern const struct verb verb_diff;
extern const struct verb verb_doctor;
extern const struct verb verb_drain;
extern const struct verb verb_events;
extern const struct verb verb_explain;
extern const struct verb verb_export;
extern const struct verb verb_help;
extern const struct verb verb_history;
extern const struct verb verb_install;
extern const struct verb verb_locks;
extern const struct verb verb_man;
extern const struct verb verb_metrics;
extern const struct verb verb_nodeset;
extern const struct verb verb_pause;
extern const struct verb verb_plan;
extern const struct verb verb_reboot;
extern const struct verb verb_rehearse;
extern const struct verb verb_replay;
extern const struct verb verb_resources;
extern const struct verb verb_resume;
extern const struct verb verb_retry;
extern const struct verb verb_rollout;
extern const struct verb verb_shutdown;
extern const struct verb verb_sim;
extern const struct verb verb_skip;
extern const struct verb verb_snapshot;
extern const struct verb verb_status;
extern const struct verb verb_uncordon;
extern const struct verb verb_unlock;
extern const struct verb verb_version;
extern const struct verb verb_why;

const struct verb *const verbs[] = {
    &verb_drain,    &verb_plan,     &verb_apply,      &verb_diff,       &verb_cordon,
    &verb_uncordon, &verb_status,   &verb_why,        &verb_explain,    &verb_doctor,
    &verb_checks,   &verb_rehearse, &verb_snapshot,   &verb_sim,        &verb_nodeset,
    &verb_export,   &verb_version,  &verb_completion, &verb_help,       &verb_complete,
    &verb_man,      &verb_blockers, &verb_resources,  &verb_controller, &verb_install,
    &verb_locks,    &verb_unlock,   &verb_pause,      &verb_resume,     &verb_retry,
    &verb_skip,     &verb_abort,    &verb_approve,    &verb_reboot,     &verb_shutdown,
    &verb_rollout,  &verb_history,  &verb_config,     &verb_replay,     &verb_metrics,
    &verb_events,   NULL,
};

const struct verb *verb_find(const char *name) {
    for (size_t i = 0; verbs[i]; i++)
        if (streq(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

const char *verb_suggest(const char *name) {
    VEC(const char *) names = VEC_INIT;
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            *vec_push(&names) = verbs[i]->name;
    const char *near = suggest_nearest(name, names.p, names.len);
    vec_done(&names);
    return near;
}

void verb_option_set(const struct verb *verb, struct general_opts *general, void *opts,
                     struct option_set *set) {
    *set = (struct option_set){0};
    for (const struct verb_options *o = verb->options; o && o->group; o++)
        option_set_add(set, o->group, opts ? (char *)opts + o->base : NULL);
    option_set_add(set, &general_options, general);
}

void verb_accept_connection(const struct verb *verb, void *opts, struct option_set *set) {
    for (const struct verb_options *o = verb->options; o && o->group; o++)
        if (o->group == &connection_options)
            return;
    option_set_add(set, &connection_options,
                   opts && verb->connection ? (char *)opts + verb->connection : NULL);
}

void verb_shared_set(struct general_opts *general, struct shared_opts *shared,
                     struct option_set *set) {
    *set = (struct option_set){0};
    option_set_add(set, &connection_options, &shared->connection);
    option_set_add(set, &output_options, &shared->output);
    option_set_add(set, &general_options, general);
}
