/* The tables of Slipway's own kinds. As in foreign.c, the numbers in the place of protobuf's only
 * keep the rows apart. */
#include "model/own.h"

#include <errno.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "model/table.h"

/* --- what several of them have --- */

TYPE(type_own_condition, "Condition", own_condition, F("type", 1, STR, own_condition, c.type),
     F("status", 2, STR, own_condition, c.status),
     F("observedGeneration", 3, I64, own_condition, generation),
     F("lastTransitionTime", 4, TIME, own_condition, c.changed),
     F("reason", 5, STR, own_condition, c.reason), F("message", 6, STR, own_condition, c.message));

TYPE(type_own_blocker, "Blocker", own_blocker, F("code", 1, STR, own_blocker, code),
     F("object", 2, STR, own_blocker, object), F("message", 3, STR, own_blocker, message),
     F("since", 4, TIME, own_blocker, since), F("hint", 5, STR, own_blocker, hint),
     F("deadline", 6, TIME, own_blocker, deadline), F("then", 7, STR, own_blocker, then));

TYPE(type_own_exec, "ExecExecutor", own_exec, F("command", 1, STRS, own_exec, command));
TYPE(type_own_http, "HTTPExecutor", own_http, F("url", 1, STR, own_http, url));
TYPE(type_own_executor, "Executor", own_executor,
     F("fleetlock", 1, PRESENT, own_executor, fleetlock),
     FM("exec", 2, PTR, own_executor, exec, type_own_exec),
     FM("http", 3, PTR, own_executor, http, type_own_http),
     F("sim", 4, PRESENT, own_executor, sim));

#define OBJECT(var, name_, st, spec, status)                                                       \
    TYPE(var, name_, st, FM("metadata", 1, MSG, st, meta, type_meta), FLAT("spec", 2, spec),       \
         FLAT("status", 3, status))

/* --- Policy --- */

TYPE(type_policy_ids, "FleetLockIDs", policy_fleetlock,
     F("appIds", 1, STRS, policy_fleetlock, app_ids),
     F("nodeNames", 2, OPT_BOOL, policy_fleetlock, node_names));
TYPE(type_policy_fleetlock, "FleetLock", policy_fleetlock,
     F("groups", 1, STRS, policy_fleetlock, groups),
     F("denyStatus", 2, OPT_I32, policy_fleetlock, deny_status),
     F("unknownGroup", 3, STR, policy_fleetlock, unknown_group),
     F("callerCheck", 4, STR, policy_fleetlock, caller_check), FLAT("ids", 5, type_policy_ids),
     F("rate", 6, OPT_I32, policy_fleetlock, rate));
TYPE(type_policy_skip, "SkippedCheck", policy_skip, F("name", 1, STR, policy_skip, name),
     F("reason", 2, STR, policy_skip, reason));
TYPE(type_policy_spec, "PolicySpec", policy,
     FM("nodeSelector", 1, PTR, policy, selector, type_selector),
     F("maxUnavailable", 2, INTSTR, policy, max_unavailable),
     F("maxZones", 3, OPT_I32, policy, max_zones), F("drain", 4, JSON, policy, drain),
     F("drainTimeout", 5, STR, policy, drain_timeout), F("escalation", 6, STR, policy, escalation),
     FM("fleetlock", 7, PTR, policy, fleetlock, type_policy_fleetlock),
     F("settle", 8, STR, policy, settle), F("soak", 9, STR, policy, soak),
     F("waitRescheduled", 10, OPT_BOOL, policy, wait_rescheduled),
     F("maxFailed", 11, OPT_I32, policy, max_failed),
     FM("skipChecks", 12, LIST, policy, skip_checks, type_policy_skip),
     F("approval", 13, STR, policy, approval), F("returnTimeout", 14, STR, policy, return_timeout));
TYPE(type_policy_status, "PolicyStatus", policy,
     F("observedGeneration", 1, I64, policy, observed_generation),
     F("nodes", 2, I32, policy, nodes), F("held", 3, I32, policy, held),
     F("waiting", 4, I32, policy, waiting),
     FM("conditions", 5, LIST, policy, conditions, type_own_condition),
     F("free", 6, I32, policy, free), F("holders", 7, STRS, policy, holders));
TYPE(type_policy, "Policy", policy, FM("metadata", 1, MSG, policy, meta, type_meta),
     FLAT("spec", 2, type_policy_spec), FLAT("status", 3, type_policy_status),
     F("unread", 4, STR, policy, unread));

void policy_drain_rules(const struct policy *p, struct str *out) {
    const char *members = p->drain ? p->drain + 1 : "}";
    while (*members == ' ' || *members == '\n' || *members == '\r' || *members == '\t')
        members++;
    str_addf(out, "{\"apiVersion\":\"" OWN_API_VERSION "\",\"kind\":\"DrainRules\"%s%s",
             *members == '}' ? "" : ",", members);
}

/* --- Maintenance --- */

TYPE(type_own_transition, "Transition", own_transition, F("time", 1, TIME, own_transition, time),
     F("from", 2, STR, own_transition, from), F("to", 3, STR, own_transition, to),
     F("reason", 4, STR, own_transition, reason));
TYPE(type_maintenance_spec, "MaintenanceSpec", maintenance, F("node", 1, STR, maintenance, node),
     F("operation", 2, STR, maintenance, operation), F("policy", 3, STR, maintenance, policy),
     F("reason", 4, STR, maintenance, reason), F("paused", 5, OPT_BOOL, maintenance, paused),
     FM("executor", 6, PTR, maintenance, executor, type_own_executor));
TYPE(type_maintenance_status, "MaintenanceStatus", maintenance,
     F("observedGeneration", 1, I64, maintenance, observed_generation),
     F("phase", 2, STR, maintenance, phase), F("reason", 3, STR, maintenance, phase_reason),
     F("since", 4, TIME, maintenance, since), F("slot", 5, STR, maintenance, slot),
     F("bootBefore", 6, STR, maintenance, boot_before),
     F("bootAfter", 7, STR, maintenance, boot_after),
     FM("blocker", 8, PTR, maintenance, blocker, type_own_blocker),
     FM("conditions", 9, LIST, maintenance, conditions, type_own_condition),
     FM("journal", 10, LIST, maintenance, journal, type_own_transition));
OBJECT(type_maintenance, "Maintenance", maintenance, type_maintenance_spec,
       type_maintenance_status);

const char *const own_words[] = {"retry", "skip", "abort", NULL};

int maintenance_word(const struct maintenance *m, const char **out, struct err *err) {
    const char *said = map_get(m->meta.annotations, OWN_WORD_ANNOTATION);
    if (str_empty(said)) {
        *out = NULL;
        return 0;
    }
    for (size_t i = 0; own_words[i]; i++)
        if (streq(own_words[i], said)) {
            *out = own_words[i];
            return 0;
        }
    const char *near = suggest_nearest(said, own_words, ARRAY_LEN(own_words) - 1);
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, said);
    return err_set(err, EINVAL,
                   "the annotation " OWN_WORD_ANNOTATION
                   " is \"%.80s\"; it must be retry, skip or abort%s%s%s",
                   str_get(&shown), near ? ": did you mean \"" : "", strna(near),
                   near ? "\"?" : "");
}

/* --- Rollout --- */

TYPE(type_rollout_counts, "RolloutCounts", rollout_counts,
     F("total", 1, I32, rollout_counts, total), F("waiting", 2, I32, rollout_counts, waiting),
     F("current", 3, I32, rollout_counts, current), F("complete", 4, I32, rollout_counts, complete),
     F("failed", 5, I32, rollout_counts, failed));
TYPE(type_rollout_spec, "RolloutSpec", rollout, F("operation", 1, STR, rollout, operation),
     FM("nodeSelector", 2, PTR, rollout, selector, type_selector),
     F("nodes", 3, STRS, rollout, nodes), F("policy", 4, STR, rollout, policy),
     F("reason", 5, STR, rollout, reason), F("maxFailed", 6, OPT_I32, rollout, max_failed),
     F("soak", 8, STR, rollout, soak), F("paused", 9, OPT_BOOL, rollout, paused),
     FM("executor", 10, PTR, rollout, executor, type_own_executor));
TYPE(type_rollout_status, "RolloutStatus", rollout,
     F("observedGeneration", 1, I64, rollout, observed_generation),
     F("phase", 2, STR, rollout, phase), F("reason", 3, STR, rollout, phase_reason),
     F("since", 4, TIME, rollout, since),
     FM("counts", 5, MSG, rollout, counts, type_rollout_counts),
     F("current", 6, STRS, rollout, current),
     FM("blocker", 7, PTR, rollout, blocker, type_own_blocker),
     FM("conditions", 8, LIST, rollout, conditions, type_own_condition),
     F("doneNodes", 9, STR, rollout, done_nodes), F("failedNodes", 10, STR, rollout, failed_nodes),
     F("lastDone", 11, TIME, rollout, last_done), F("retried", 12, STR, rollout, retried));
OBJECT(type_rollout, "Rollout", rollout, type_rollout_spec, type_rollout_status);

/* --- kinds --- */

#define KIND(var, type_, ...)                                                                      \
    const struct kind var = {__VA_ARGS__, .namespaced = false, .type = &(type_)}
const struct kind kind_policy = {.name = "Policy",
                                 .group = OWN_GROUP,
                                 .version = OWN_VERSION,
                                 .resource = "policies",
                                 .type = &type_policy,
                                 .unread = offsetof(struct policy, unread)};
KIND(kind_maintenance, type_maintenance, "Maintenance", OWN_GROUP, OWN_VERSION, "maintenances");
KIND(kind_rollout, type_rollout, "Rollout", OWN_GROUP, OWN_VERSION, "rollouts");

const struct kind *const own_kinds[] = {&kind_policy, &kind_maintenance, &kind_rollout, NULL};
