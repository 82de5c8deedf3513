/* The fields of Slipway's own custom resources. */
#include "model/own_fields.h"

#include <stddef.h>

enum {
    NAME_MAX_LEN = 253,
    /* The object that holds the slots of a Policy is a ConfigMap slipway-slots-NAME. */
    POLICY_NAME_MAX = NAME_MAX_LEN - (int)sizeof("slipway-slots-") + 1,
    REASON_MAX = 1024,
    MESSAGE_MAX = 32768, /* as in Kubernetes' own conditions */
    GROUPS_MAX = 100,
    RULES_MAX = 1000, /* as in engine/rules_parse.c */
};

/* Of drain rules, of which there are too many for expressions. */
#define DURATION_PATTERN "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"

/* --- label selectors --- */

static const char *const operator_words[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};

static const struct own_field label_value = {
    .type = OWN_STR, .meaning = "A value of the label.", .max = 63};

static const struct own_field requirement_fields[] = {
    {.name = "key",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = 317, /* a prefix, a slash and a name */
     .meaning = "The label."},
    {.name = "operator",
     .type = OWN_STR,
     .required = true,
     .words = operator_words,
     .meaning = "How the label is compared with the values."},
    {.name = "values",
     .type = OWN_LIST,
     .max = 1000,
     .item = &label_value,
     .meaning = "For In and NotIn: the values."},
    {0}};

static const struct own_field requirement_item = {.type = OWN_OBJECT,
                                                  .meaning = "One condition.",
                                                  .fields = requirement_fields,
                                                  .rules = own_requirement_rules};

static const struct own_field selector_fields[] = {
    {.name = "matchLabels", .type = OWN_LABELS, .meaning = "Labels that must have these values."},
    {.name = "matchExpressions",
     .type = OWN_LIST,
     .max = 100,
     .item = &requirement_item,
     .meaning = "Further conditions; all must hold."},
    {0}};

/* --- drain rules --- */

static const char *const mark_words[] = {"honour", "ignore", NULL};
static const char *const action_words[] = {"evict", "skip", "wait", NULL};
static const char *const step_words[] = {"delete", "force", NULL};

static const struct own_field namespace_item = {
    .type = OWN_STR,
    .meaning = "A namespace, or a pattern.",
    .pattern = "^[a-z0-9*?-]{1,253}$",
};
static const struct own_field owner_item = {
    .type = OWN_STR,
    .meaning = "A kind, or Bare.",
    .pattern = "^[A-Z][A-Za-z0-9]{0,62}$",
};

static const struct own_field priority_fields[] = {
    {.name = "min", .type = OWN_INT, .meaning = "The lowest."},
    {.name = "max", .type = OWN_INT, .meaning = "The highest."},
    {0}};

static const struct own_field match_fields[] = {
    {.name = "namespaces",
     .type = OWN_LIST,
     .min = 1,
     .max = 1000,
     .item = &namespace_item,
     .meaning = "Any of these namespaces; * is any number of characters, ? is one."},
    {.name = "labels",
     .type = OWN_OBJECT,
     .fields = selector_fields,
     .meaning = "A label selector for pods."},
    {.name = "owners",
     .type = OWN_LIST,
     .min = 1,
     .max = 1000,
     .item = &owner_item,
     .meaning = "Any of these kinds is the pod's controller; Bare is a pod without one. Pods of a "
                "Deployment belong to a ReplicaSet, those of a CronJob to a Job."},
    {.name = "priority",
     .type = OWN_OBJECT,
     .fields = priority_fields,
     .rules = own_priority_rules,
     .meaning = "Between which numbers the pod's priority is."},
    {0}};

static const struct own_field step_fields[] = {
    {.name = "after",
     .type = OWN_SECONDS,
     .required = true,
     .min = 0,
     .max = 86400 * 365,
     .pattern = DURATION_PATTERN,
     .meaning = "From the first try."},
    {.name = "to",
     .type = OWN_STR,
     .required = true,
     .words = step_words,
     .meaning =
         "delete breaks the budget; force lets the pod vanish while its containers may still "
         "run."},
    {0}};
static const struct own_field step_item = {
    .type = OWN_OBJECT, .meaning = "One step.", .fields = step_fields};
static const struct own_field rule_fields[] = {
    {.name = "name",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = 100,
     .meaning = "What messages call it."},
    {.name = "match",
     .type = OWN_OBJECT,
     .fields = match_fields,
     .meaning = "Which pods; every part that is there must hold. Without it: all."},
    {.name = "order",
     .type = OWN_INT,
     .meaning = "Pods of a lower order must be gone before those of a higher one begin; 0 when it "
                "is not said."},
    {.name = "action",
     .type = OWN_STR,
     .words = action_words,
     .meaning = "evict, which it is when nothing is said; skip: the pod is left alone; wait: until "
                "it has finished."},
    {.name = "grace",
     .type = OWN_SECONDS,
     .min = 1,
     .max = 86400 * 365,
     .pattern = DURATION_PATTERN,
     .meaning = "The time that the pod gets to stop, instead of its own."},
    {.name = "deadline",
     .type = OWN_SECONDS,
     .min = 1,
     .max = 86400 * 365,
     .pattern = DURATION_PATTERN,
     .meaning = "Counted from the first try; then the pod is given up."},
    {.name = "escalate",
     .type = OWN_LIST,
     .max = 2,
     .key = "to",
     .item = &step_item,
     .rules = own_steps_rules,
     .meaning = "What is done when it does not go. Without it nothing is deleted or forced."},
    {.name = "marks",
     .type = OWN_STR,
     .words = mark_words,
     .meaning = "For the pods of this rule, instead of what is said for all."},
    {0}};

static const struct own_field rule_item = {
    .type = OWN_OBJECT, .meaning = "One rule.", .fields = rule_fields, .rules = own_rule_rules};

static const struct own_field drain_fields[] = {
    {.name = "marks",
     .type = OWN_STR,
     .words = mark_words,
     .meaning = "Whether marks of other tools on pods (safe-to-evict, do-not-disrupt, "
                "cluster.x-k8s.io/drain) are obeyed; honour when nothing is said."},
    {.name = "rules",
     .type = OWN_LIST,
     .max = RULES_MAX,
     .key = "name",
     .item = &rule_item,
     .meaning = "The first that matches a pod is its rule; one that no rule matches is evicted."},
    {0}};

/* --- what several of them have --- */

static const char *const operation_words[] = {"Drain", "Reboot", "Shutdown", NULL};
#define OPERATION_MEANING                                                                          \
    "What is done to the node: Drain holds it drained until this is deleted or somebody else "     \
    "uncordons it, Reboot and Shutdown are carried out by the executor."

static const struct own_field argument_item = {
    .type = OWN_STR, .meaning = "One argument.", .max = 4096};
static const struct own_field exec_fields[] = {
    {.name = "command",
     .type = OWN_LIST,
     .required = true,
     .min = 1,
     .max = 100,
     .item = &argument_item,
     .meaning = "The program and its arguments; no shell is involved."},
    {0}};
static const struct own_field http_fields[] = {{.name = "url",
                                                .type = OWN_STR,
                                                .required = true,
                                                .min = 1,
                                                .max = 2048,
                                                .rules = own_url_rules,
                                                .meaning = "Where the request is sent."},
                                               {0}};
static const struct own_field executor_fields[] = {
    {.name = "fleetlock",
     .type = OWN_OBJECT,
     .meaning = "The node reboots by itself, when its FleetLock client is told that it may."},
    {.name = "exec", .type = OWN_OBJECT, .fields = exec_fields, .meaning = "A program is run."},
    {.name = "http",
     .type = OWN_OBJECT,
     .fields = http_fields,
     .meaning = "A service is asked by an HTTP request."},
    {.name = "sim", .type = OWN_OBJECT, .meaning = "The simulator's machines do it by themselves."},
    {0}};

#define EXECUTOR                                                                                   \
    {                                                                                              \
        .name = "executor", .type = OWN_OBJECT, .fixed = true, .fields = executor_fields,          \
        .rules = own_executor_rules, .meaning = "Who carries the operation out."                   \
    }

static const char *const status_words[] = {"True", "False", "Unknown", NULL};
static const struct own_field condition_fields[] = {
    {.name = "type",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = 316,
     .meaning = "What it is about."},
    {.name = "status",
     .type = OWN_STR,
     .required = true,
     .words = status_words,
     .meaning = "Whether it is so."},
    {.name = "observedGeneration",
     .type = OWN_LONG,
     .meaning = "The metadata.generation that was looked at."},
    {.name = "lastTransitionTime",
     .type = OWN_TIME,
     .required = true,
     .meaning = "Since when the status is what it is."},
    {.name = "reason",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = REASON_MAX,
     .meaning = "One word for programs."},
    {.name = "message",
     .type = OWN_STR,
     .required = true,
     .max = MESSAGE_MAX,
     .meaning = "A sentence for people."},
    {0}};
static const struct own_field condition_item = {
    .type = OWN_OBJECT, .meaning = "One condition.", .fields = condition_fields};
#define CONDITIONS(meaning_)                                                                       \
    {                                                                                              \
        .name = "conditions", .type = OWN_LIST, .max = 32, .key = "type", .item = &condition_item, \
        .meaning = (meaning_)                                                                      \
    }

static const struct own_field blocker_fields[] = {
    {.name = "code",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = 100,
     .meaning = "One of the codes of docs/blockers.md."},
    {.name = "object",
     .type = OWN_STR,
     .max = 1024,
     .meaning = "What is in the way: pod/NAMESPACE/NAME."},
    {.name = "message", .type = OWN_STR, .max = MESSAGE_MAX, .meaning = "Why, with numbers."},
    {.name = "since", .type = OWN_TIME, .meaning = "Since when it waits for that."},
    {.name = "hint", .type = OWN_STR, .max = MESSAGE_MAX, .meaning = "What can be done."},
    {.name = "deadline",
     .type = OWN_TIME,
     .meaning = "Until when it waits; absent when it waits as long as it takes."},
    {.name = "then",
     .type = OWN_STR,
     .max = MESSAGE_MAX,
     .meaning = "What happens at the deadline."},
    {0}};
#define BLOCKER                                                                                    \
    {                                                                                              \
        .name = "blocker", .type = OWN_OBJECT, .fields = blocker_fields,                           \
        .meaning = "What it waits for; absent when it does not wait."                              \
    }
#define OBSERVED_GENERATION                                                                        \
    {                                                                                              \
        .name = "observedGeneration", .type = OWN_LONG,                                            \
        .meaning = "The metadata.generation that this status is about."                            \
    }
#define POLICY_NAME(meaning_)                                                                      \
    {                                                                                              \
        .name = "policy", .type = OWN_STR, .fixed = true, .min = 1, .max = POLICY_NAME_MAX,        \
        .meaning = (meaning_)                                                                      \
    }
#define REASON                                                                                     \
    { .name = "reason", .type = OWN_STR, .max = REASON_MAX, .meaning = "Why, for people." }
#define PAUSED(meaning_)                                                                           \
    { .name = "paused", .type = OWN_BOOL, .initial = "false", .meaning = (meaning_) }

/* --- Policy --- */

static const char *const escalation_words[] = {"wait", "release", NULL};
static const char *const deny_words[] = {"404", "423", NULL};
static const char *const unknown_words[] = {"refuse", "default", NULL};
static const char *const caller_words[] = {"off", "report", "enforce", NULL};

static const struct own_field group_item = {.type = OWN_STR,
                                            .meaning = "A group.",
                                            .min = 1,
                                            .max = NAME_MAX_LEN,
                                            .rules = own_group_rules};
static const struct own_field app_id_item = {.type = OWN_STR,
                                             .meaning = "An application's id.",
                                             .min = 32,
                                             .max = 36,
                                             .rules = own_app_id_rules};

static const struct own_field ids_fields[] = {
    {.name = "appIds",
     .type = OWN_LIST,
     .max = 32,
     .set = true,
     .item = &app_id_item,
     .initial = "[\"de35106b6ec24688b63afddaa156679b\"]",
     .meaning = "The applications that may have derived a client's id from its machine id; Zincati "
                "when nothing is said."},
    {.name = "nodeNames",
     .type = OWN_BOOL,
     .initial = "false",
     .meaning = "Whether a client may give the name of its node as its id, too."},
    {0}};

static const struct own_field fleetlock_fields[] = {
    {.name = "groups",
     .type = OWN_LIST,
     .required = true,
     .min = 1,
     .max = GROUPS_MAX,
     .set = true,
     .item = &group_item,
     .meaning = "The groups that clients of its nodes may name. Which Policy answers is decided by "
                "the node, so that several of them may name the same group."},
    {.name = "denyStatus",
     .type = OWN_INT,
     .words = deny_words,
     .initial = "404",
     .meaning = "The HTTP status of the answer to a client that has to wait."},
    {.name = "unknownGroup",
     .type = OWN_STR,
     .words = unknown_words,
     .initial = "\"refuse\"",
     .meaning = "What a client of its nodes gets whose group is none of these: refuse is an error, "
                "default is what this Policy says."},
    {.name = "callerCheck",
     .type = OWN_STR,
     .words = caller_words,
     .initial = "\"report\"",
     .meaning = "Whether the address that a request comes from must be one of the node that it "
                "speaks for: off, report (it is told and goes on) or enforce (it is refused)."},
    {.name = "ids",
     .type = OWN_OBJECT,
     .initial = "{}",
     .fields = ids_fields,
     .meaning = "What a client's id may be."},
    {.name = "rate",
     .type = OWN_INT,
     .min = 1,
     .max = 100000,
     .initial = "60",
     .meaning = "How many requests a minute are answered that come from one address for one node."},
    {0}};

/* As checks_table of engine/checks.h, which is above this layer; a test compares them. */
static const char *const check_words[] = {"longhorn", "rook-ceph",   "kubevirt",
                                          "cnpg",     "zalando",     "etcd-operator",
                                          "etcd",     "statefulset", NULL};
static const struct own_field skip_fields[] = {
    {.name = "name",
     .type = OWN_STR,
     .required = true,
     .words = check_words,
     .meaning = "The check, as 'slipway checks' calls it."},
    {.name = "reason",
     .type = OWN_STR,
     .required = true,
     .min = 1,
     .max = MESSAGE_MAX,
     .meaning = "Why it is safe to do without."},
    {0}};
static const struct own_field skip_item = {
    .type = OWN_OBJECT, .meaning = "One check.", .fields = skip_fields};
static const char *const approval_words[] = {"none", "required", NULL};

static const struct own_field policy_spec[] = {
    {.name = "nodeSelector",
     .type = OWN_OBJECT,
     .required = true,
     .fields = selector_fields,
     .rules = own_selector_rules,
     .meaning = "The nodes that this is about; an empty one selects all. A node that two Policies "
                "select is refused by both."},
    {.name = "maxUnavailable",
     .type = OWN_COUNT,
     .initial = "1",
     .rules = own_count_rules,
     .meaning = "How many of the nodes may be out of service at the same time: a number, or a "
                "percentage of them, rounded down but at least 1 unless it is 0%. With 0 no "
                "further node goes. Of the control plane it is never more than one."},
    {.name = "maxZones",
     .type = OWN_INT,
     .min = 1,
     .max = OWN_NODES_MAX,
     .meaning = "In how many zones (topology.kubernetes.io/zone) they may be; any number when "
                "nothing is said."},
    {.name = "drain",
     .type = OWN_OBJECT,
     .initial = "{}",
     .fields = drain_fields,
     .meaning = "What happens to which pods, as in the file of 'slipway drain --rules'. Pods "
                "without a controller and pods with an emptyDir are evicted, too."},
    {.name = "drainTimeout",
     .type = OWN_STR,
     .min = 1,
     .max = 32,
     .initial = "\"1h\"",
     .rules = own_duration_rules,
     .meaning = "How long a drain may take before the escalation."},
    {.name = "escalation",
     .type = OWN_STR,
     .words = escalation_words,
     .initial = "\"wait\"",
     .meaning = "What happens then: wait goes on and says so, release puts the node back into "
                "service and gives its slot to the next."},
    {.name = "fleetlock",
     .type = OWN_OBJECT,
     .fields = fleetlock_fields,
     .meaning = "That FleetLock clients on these nodes are answered, and how. Without it they are "
                "not."},
    {.name = "returnTimeout",
     .type = OWN_STR,
     .min = 1,
     .max = 32,
     .initial = "\"30m\"",
     .rules = own_duration_rules,
     .meaning = "How long the node of a Maintenance may take to go, and then to be back and Ready, "
                "before the Maintenance is Halted (NotBack), which counts as failed for a Rollout. "
                "A drained node whose FleetLock client does not ask within that time is put back "
                "into service, and its Maintenance has Failed. 0s: any time."},
    {.name = "settle",
     .type = OWN_STR,
     .min = 1,
     .max = 32,
     .initial = "\"0s\"",
     .rules = own_duration_rules,
     .meaning = "How long a node must have been back in service before its slot is free."},
    {.name = "soak",
     .type = OWN_STR,
     .min = 1,
     .max = 32,
     .initial = "\"0s\"",
     .rules = own_duration_rules,
     .meaning = "How long a Rollout waits after each node before the next one begins."},
    {.name = "waitRescheduled",
     .type = OWN_BOOL,
     .initial = "true",
     .meaning =
         "Whether the owners of evicted pods must be available again before a node counts as "
         "drained."},
    {.name = "maxFailed",
     .type = OWN_INT,
     .min = 0,
     .max = OWN_NODES_MAX,
     .initial = "0",
     .meaning =
         "How many nodes of a Rollout may fail. When it is one more, no further node is begun."},
    {.name = "skipChecks",
     .type = OWN_LIST,
     .max = 32,
     .key = "name",
     .item = &skip_item,
     .meaning = "Checks of storage systems, databases and quorums that are not asked. The others "
                "are, before a node gets a slot, before it is operated on, and when it is back."},
    {.name = "approval",
     .type = OWN_STR,
     .words = approval_words,
     .initial = "\"none\"",
     .meaning = "Whether somebody has to approve ('slipway approve') before a node gets a slot: of "
                "the Maintenance, its Rollout, or the Node that asks by FleetLock."},
    {0}};

static const struct own_field node_item = {
    .type = OWN_STR, .meaning = "A name.", .min = 1, .max = NAME_MAX_LEN};

static const struct own_field policy_status[] = {
    OBSERVED_GENERATION,
    {.name = "nodes", .type = OWN_INT, .meaning = "How many nodes it selects."},
    {.name = "held", .type = OWN_INT, .meaning = "How many of them hold a slot."},
    {.name = "waiting", .type = OWN_INT, .meaning = "How many wait for one."},
    {.name = "free",
     .type = OWN_INT,
     .meaning = "How many slots nobody holds. Nodes that are down without one can take them."},
    {.name = "holders",
     .type = OWN_LIST,
     .max = 100,
     .item = &node_item,
     .meaning = "The nodes that hold a slot, the first 100 of them. For people: what counts is the "
                "record in the ConfigMap."},
    CONDITIONS("Ready: it is obeyed; else the message says why not."),
    {0}};

static const struct own_field policy_fields[] = {
    {.name = "spec",
     .type = OWN_OBJECT,
     .required = true,
     .fields = policy_spec,
     .meaning = "What is wanted."},
    {.name = "status", .type = OWN_OBJECT, .fields = policy_status, .meaning = "What is so."},
    {0}};

static const struct own_column policy_columns[] = {
    {"Max", "string", ".spec.maxUnavailable", "How many may be out of service", false},
    {"Held", "integer", ".status.held", "How many are", false},
    {"Free", "integer", ".status.free", "How many more may be", false},
    {"Waiting", "integer", ".status.waiting", "How many wait", false},
    {"Ready", "string", ".status.conditions[?(@.type=='Ready')].status", "Whether it is obeyed",
     false},
    {"Nodes", "integer", ".status.nodes", "How many nodes it selects", false},
    {"Holders", "string", ".status.holders", "The nodes that are out of service", true},
    {"Groups", "string", ".spec.fleetlock.groups", "FleetLock groups", true},
    {"Age", "date", ".metadata.creationTimestamp", "Since it was made", false},
    {0}};

/* --- Maintenance --- */

/* As maint_phases of engine/maintenance.h, which is above this layer; a test compares them. */
static const char *const maintenance_phases[] = {
    "Pending",   "Queued",    "Draining",    "Drained",  "Granted", "Operating",
    "Returning", "Restoring", "Uncordoning", "Settling", "Halted",  "Undoing",
    "Complete",  "Failed",    "Cancelled",   NULL};

static const struct own_field maintenance_spec[] = {
    {.name = "node",
     .type = OWN_STR,
     .required = true,
     .fixed = true,
     .min = 1,
     .max = NAME_MAX_LEN,
     .rules = own_node_name_rules,
     .meaning = "The node's name."},
    {.name = "operation",
     .type = OWN_STR,
     .required = true,
     .fixed = true,
     .words = operation_words,
     .meaning = OPERATION_MEANING},
    POLICY_NAME("The Policy whose slot it takes; without it the one that selects the node."),
    REASON,
    PAUSED("Whether it stops before the next step that touches pods or the node."),
    EXECUTOR,
    {0}};

static const struct own_field transition_fields[] = {
    {.name = "time", .type = OWN_TIME, .required = true, .meaning = "When."},
    {.name = "from", .type = OWN_STR, .words = maintenance_phases, .meaning = "The phase before."},
    {.name = "to",
     .type = OWN_STR,
     .required = true,
     .words = maintenance_phases,
     .meaning = "The phase after."},
    {.name = "reason", .type = OWN_STR, .max = REASON_MAX, .meaning = "One word for why."},
    {0}};
static const struct own_field transition_item = {
    .type = OWN_OBJECT, .meaning = "One transition.", .fields = transition_fields};

static const struct own_field maintenance_status[] = {
    OBSERVED_GENERATION,
    {.name = "phase",
     .type = OWN_STR,
     .words = maintenance_phases,
     .meaning = "Where it is in its life."},
    {.name = "reason",
     .type = OWN_STR,
     .max = REASON_MAX,
     .meaning = "One word for how it came there."},
    {.name = "since", .type = OWN_TIME, .meaning = "Since when it is there."},
    {.name = "slot", .type = OWN_STR, .max = NAME_MAX_LEN, .meaning = "The id of its slot."},
    {.name = "bootBefore",
     .type = OWN_STR,
     .max = NAME_MAX_LEN,
     .meaning = "The node's boot id when the operation was allowed."},
    {.name = "bootAfter",
     .type = OWN_STR,
     .max = NAME_MAX_LEN,
     .meaning = "The node's boot id when it came back."},
    BLOCKER,
    CONDITIONS("Complete, Failed and Progressing."),
    {.name = "journal",
     .type = OWN_LIST,
     .max = 100,
     .item = &transition_item,
     .meaning = "The last transitions, the oldest first."},
    {0}};

static const struct own_field maintenance_fields[] = {
    {.name = "spec",
     .type = OWN_OBJECT,
     .required = true,
     .fields = maintenance_spec,
     .rules = own_maintenance_spec_rules,
     .meaning = "What is wanted."},
    {.name = "status", .type = OWN_OBJECT, .fields = maintenance_status, .meaning = "What is so."},
    {0}};

static const struct own_column maintenance_columns[] = {
    {"Node", "string", ".spec.node", "The node", false},
    {"Operation", "string", ".spec.operation", "What is done to it", false},
    {"Phase", "string", ".status.phase", "Where it is in its life", false},
    {"Blocker", "string", ".status.blocker.code", "What it waits for", false},
    {"Policy", "string", ".spec.policy", "The Policy", true},
    {"Message", "string", ".status.blocker.message", "Why it waits", true},
    {"Reason", "string", ".spec.reason", "Why it is done", true},
    {"Age", "date", ".metadata.creationTimestamp", "Since it was made", false},
    {0}};

/* --- Rollout --- */

static const char *const rollout_phases[] = {"Pending",  "Progressing", "Paused",
                                             "Complete", "Failed",      NULL};

static const struct own_field node_set_item = {.type = OWN_STR,
                                               .meaning = "A name or a set.",
                                               .min = 1,
                                               .max = 1024,
                                               .rules = own_node_set_rules};
static const struct own_field rollout_spec[] = {
    {.name = "operation",
     .type = OWN_STR,
     .required = true,
     .fixed = true,
     .words = operation_words,
     .meaning = OPERATION_MEANING},
    {.name = "nodeSelector",
     .type = OWN_OBJECT,
     .fixed = true,
     .fields = selector_fields,
     .rules = own_selector_rules,
     .meaning = "The nodes, by their labels; an empty one selects all."},
    {.name = "nodes",
     .type = OWN_LIST,
     .fixed = true,
     .min = 1,
     .max = 1000,
     .item = &node_set_item,
     .meaning = "The nodes, by their names or by sets of names such as w[1-20]."},
    POLICY_NAME("The Policy whose slots are taken; without it, of each node the one that selects "
                "it."),
    REASON,
    {.name = "maxFailed",
     .type = OWN_INT,
     .min = 0,
     .max = OWN_NODES_MAX,
     .meaning = "Instead of what the Policy says."},
    {.name = "soak",
     .type = OWN_STR,
     .min = 1,
     .max = 32,
     .rules = own_duration_rules,
     .meaning = "Instead of what the Policy says."},
    PAUSED("Whether no further node is begun."),
    EXECUTOR,
    {0}};

static const struct own_field count_fields[] = {
    {.name = "total", .type = OWN_INT, .meaning = "All nodes."},
    {.name = "waiting", .type = OWN_INT, .meaning = "Not begun."},
    {.name = "current", .type = OWN_INT, .meaning = "Under way."},
    {.name = "complete", .type = OWN_INT, .meaning = "Done."},
    {.name = "failed", .type = OWN_INT, .meaning = "Given up."},
    {0}};

static const struct own_field rollout_status[] = {
    OBSERVED_GENERATION,
    {.name = "phase", .type = OWN_STR, .words = rollout_phases, .meaning = "Where it is."},
    {.name = "reason",
     .type = OWN_STR,
     .max = REASON_MAX,
     .meaning = "One word for how it came there."},
    {.name = "since", .type = OWN_TIME, .meaning = "Since when it is there."},
    {.name = "counts", .type = OWN_OBJECT, .fields = count_fields, .meaning = "Nodes by state."},
    {.name = "current",
     .type = OWN_LIST,
     .max = 10000,
     .item = &node_item,
     .meaning = "The nodes that are under way."},
    {.name = "doneNodes",
     .type = OWN_STR,
     .max = ROLLOUT_NAMES_MAX,
     .meaning = "The set of the nodes that are done, also of those whose Maintenance was deleted."},
    {.name = "failedNodes",
     .type = OWN_STR,
     .max = ROLLOUT_NAMES_MAX,
     .meaning = "The same of those that were given up. 'slipway retry' empties it."},
    {.name = "lastDone", .type = OWN_TIME, .meaning = "When the last node was done."},
    {.name = "retried",
     .type = OWN_STR,
     .max = REASON_MAX,
     .meaning = "The annotation slipway.dev/retry that was heard."},
    BLOCKER,
    CONDITIONS("Complete, Failed and Progressing."),
    {0}};

static const struct own_field rollout_fields[] = {
    {.name = "spec",
     .type = OWN_OBJECT,
     .required = true,
     .fields = rollout_spec,
     .rules = own_rollout_spec_rules,
     .meaning = "What is wanted."},
    {.name = "status", .type = OWN_OBJECT, .fields = rollout_status, .meaning = "What is so."},
    {0}};

static const struct own_column rollout_columns[] = {
    {"Operation", "string", ".spec.operation", "What is done to the nodes", false},
    {"Phase", "string", ".status.phase", "Where it is", false},
    {"Complete", "integer", ".status.counts.complete", "How many nodes are done", false},
    {"Failed", "integer", ".status.counts.failed", "How many were given up", false},
    {"Nodes", "integer", ".status.counts.total", "How many there are", false},
    {"Blocker", "string", ".status.blocker.code", "What it waits for", false},
    {"Policy", "string", ".spec.policy", "The Policy", true},
    {"Message", "string", ".status.blocker.message", "Why it waits", true},
    {"Reason", "string", ".spec.reason", "Why it is done", true},
    {"Age", "date", ".metadata.creationTimestamp", "Since it was made", false},
    {0}};

/* --- the kinds --- */

const struct own_resource own_resources[] = {
    {.kind = &kind_policy,
     .singular = "policy",
     .short_name = "swpol",
     .meaning =
         "The rules for a set of nodes: how many may be out of service at the same time, how "
         "they are drained, and how their FleetLock clients are answered.",
     .example = "apiVersion: slipway.dev/v1alpha1\n"
                "kind: Policy\n"
                "metadata: {name: default}\n"
                "spec:\n"
                "  nodeSelector: {matchLabels: {}}\n"
                "  maxUnavailable: 1\n"
                "  drain: {}\n"
                "  fleetlock: {groups: [default], denyStatus: 404}\n",
     .fields = policy_fields,
     .rules = own_policy_rules,
     .columns = policy_columns},
    {.kind = &kind_maintenance,
     .singular = "maintenance",
     .short_name = "swm",
     .meaning = "One operation on one node, from the request until the node is back in service. To "
                "cancel it, delete it.",
     .example = "apiVersion: slipway.dev/v1alpha1\n"
                "kind: Maintenance\n"
                "metadata: {name: w1-fan}\n"
                "spec:\n"
                "  node: w1\n"
                "  operation: Drain\n"
                "  reason: the fan is loud\n",
     .fields = maintenance_fields,
     .columns = maintenance_columns},
    {.kind = &kind_rollout,
     .singular = "rollout",
     .short_name = "swr",
     .meaning = "One operation on many nodes, as many at a time as their Policies allow. Makes a "
                "Maintenance for each.",
     .example = "apiVersion: slipway.dev/v1alpha1\n"
                "kind: Rollout\n"
                "metadata: {name: kernel}\n"
                "spec:\n"
                "  operation: Reboot\n"
                "  nodeSelector: {matchLabels: {pool: workers}}\n"
                "  executor: {fleetlock: {}}\n"
                "  reason: the new kernel\n",
     .fields = rollout_fields,
     .columns = rollout_columns},
    {0}};

const struct own_resource *own_resource(const struct kind *kind) {
    for (const struct own_resource *r = own_resources; r->kind; r++)
        if (r->kind == kind)
            return r;
    return NULL;
}
