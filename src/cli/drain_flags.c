/* The flags of `drain`. */
#include "cli/drain_flags.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/govalue.h"

const char *const drain_check_words[] = {
    "longhorn",      "rook-ceph", "kubevirt",    "cnpg", "zalando",
    "etcd-operator", "etcd",      "statefulset", "all",  NULL};

static int parse_limit(const char *text, struct arena *arena, void *field, struct err *err) {
    struct limit *out = field;
    char *end;
    (void)arena;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    bool percent = end > text && streq(end, "%");
    if (*text < '0' || *text > '9' || errno || (*end && !percent) || !v || v > INT_MAX ||
        (percent && v > 100))
        return err_set(err, EINVAL,
                       "it is neither a number of nodes, 1 or more, nor a percentage such as 10%%");
    *out = (struct limit){.value = (unsigned)v, .percent = percent};
    return 0;
}

/* A number alone is refused, as by kubectl: nobody can tell what it is meant to be. */
static int parse_timeout(const char *text, struct arena *arena, void *field, struct err *err) {
    (void)arena;
    return govalue_duration(text, false, field, err);
}

/* Any number that an int64 of Go's can be, for kubectl takes them all. What is not positive means
 * no pages. */
static int parse_chunk(const char *text, struct arena *arena, void *field, struct err *err) {
    int64_t v;
    (void)arena;
    if (govalue_int(text, INT64_MIN, INT64_MAX, &v, err))
        return -EINVAL;
    *(int *)field = v <= 0 ? 0 : (int)MIN_OF(v, (int64_t)INT_MAX);
    return 0;
}

int drain_rate_parse(const char *text, struct arena *arena, void *field, struct err *err) {
    char *end;
    (void)arena;
    errno = 0;
    double v = strtod(text, &end);
    if (*text < '0' || *text > '9' || errno || *end || strpbrk(text, "xXpP") || !(v <= 1e6))
        return err_set(err, EINVAL, "it is no number from 0 to 1000000");
    *(double *)field = v;
    return 0;
}

static int parse_progress(const char *text, struct arena *arena, void *field, struct err *err) {
    _cleanup_str_ struct str list = STR_INIT;
    (void)arena;
    for (int i = 0; progress_words[i]; i++) {
        if (streq(text, progress_words[i])) {
            *(int *)field = i + 1;
            return 0;
        }
        str_addf(&list, "%s%s", i ? ", " : "", progress_words[i]);
    }
    return err_set(err, EINVAL, "must be one of %s", str_get(&list));
}

/* Several, by several flags or with commas. */
static int parse_checks(const char *text, struct arena *arena, void *field, struct err *err) {
    (void)arena;
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ","), i = 0;
        while (drain_check_words[i] &&
               (strlen(drain_check_words[i]) != len || strncmp(drain_check_words[i], p, len) != 0))
            i++;
        if (!drain_check_words[i]) {
            _cleanup_str_ struct str list = STR_INIT;
            for (size_t k = 0; drain_check_words[k]; k++)
                str_addf(&list, "%s%s", k ? ", " : "", drain_check_words[k]);
            return err_set(err, EINVAL, "\"%.*s\" is none of %s", (int)len, p, str_get(&list));
        }
        *(unsigned *)field |= i < n_checks ? 1u << i : (1u << n_checks) - 1;
        p += len;
        if (!*p)
            return 0;
    }
}

#define FIELD(member) offsetof(struct drain_flags, member)
const struct option_group drain_kubectl_options = {
    "Drain options, as kubectl has them",
    (const struct option[]){
        {.name = "force",
         .kind = OPTION_FLAG,
         .offset = FIELD(force),
         .help = "Also evict pods that no controller brings back, and those of a DaemonSet that is "
                 "gone"},
        {.name = "ignore-daemonsets",
         .kind = OPTION_FLAG,
         .offset = FIELD(ignore_daemonsets),
         .initial = "true",
         .help = "Leave DaemonSet-managed pods where they are; with =false they are a reason to "
                 "refuse, which is kubectl's default"},
        {.name = "delete-emptydir-data",
         .kind = OPTION_FLAG,
         .offset = FIELD(delete_emptydir),
         .help = "Also evict pods with emptyDir volumes, whose data is lost"},
        {.name = "delete-local-data",
         .kind = OPTION_FLAG,
         .offset = FIELD(delete_emptydir),
         .hidden = true,
         .help = "The old name of --delete-emptydir-data"},
        {.name = "grace-period",
         .kind = OPTION_INT,
         .offset = FIELD(grace),
         .arg = "SECONDS",
         .initial = "-1",
         .min = -INT_MAX,
         .max = INT_MAX,
         .help = "Time that each pod has to end; negative: the pod's own"},
        {.name = "timeout",
         .kind = OPTION_PARSED,
         .offset = FIELD(timeout),
         .arg = "DURATION",
         .initial = "0",
         .advice = "Write for example 90s, 5m, 1h30m or 0.",
         .parse = parse_timeout,
         .help = "Give up on a node after this long (30s, 1h); 0 is never"},
        {.name = "pod-selector",
         .kind = OPTION_STRING,
         .offset = FIELD(pod_selector),
         .arg = "SELECTOR",
         .help = "Only the pods that have these labels"},
        {.name = "disable-eviction",
         .kind = OPTION_FLAG,
         .offset = FIELD(disable_eviction),
         .help = "Delete pods instead of evicting them. PodDisruptionBudgets are not asked"},
        {.name = "skip-wait-for-delete-timeout",
         .kind = OPTION_INT,
         .offset = FIELD(skip_wait),
         .arg = "SECONDS",
         .initial = "0",
         .min = -INT_MAX,
         .max = INT_MAX,
         .help = "Do not wait for pods that have been terminating for longer than this; 0 is off"},
        {.name = "chunk-size",
         .kind = OPTION_PARSED,
         .offset = FIELD(chunk),
         .arg = "N",
         .initial = "500",
         .parse = parse_chunk,
         .help = "Objects in a page of a list; 0 is all at once"},
        {0}}};

const struct option_group drain_own_options = {
    "Drain options",
    (const struct option[]){
        {.name = "max-unavailable",
         .kind = OPTION_PARSED,
         .offset = FIELD(max_unavailable),
         .arg = "N|P%",
         .env = "SLIPWAY_MAX_UNAVAILABLE",
         .parse = parse_limit,
         .help =
             "Nodes of this drain that are worked on at once at most: a number, or a percentage "
             "of the nodes to be drained"},
        {.name = "parallel",
         .kind = OPTION_INT,
         .offset = FIELD(parallel),
         .arg = "N",
         .initial = "0",
         .max = INT_MAX,
         .help = "Nodes worked on at once; 0 is as many as the budgets allow"},
        {.name = "max-zones",
         .kind = OPTION_INT,
         .offset = FIELD(max_zones),
         .arg = "N",
         .initial = "0",
         .max = INT_MAX,
         .help = "Zones (topology.kubernetes.io/zone) with a node out at once; 0 is any"},
        {.name = "in-order",
         .kind = OPTION_FLAG,
         .offset = FIELD(in_order),
         .help = "Begin with the nodes in the order in which they are given, also when another "
                 "would be in fewer others' way"},
        {.name = "avoid-next",
         .kind = OPTION_FLAG,
         .offset = FIELD(avoid_next),
         .initial = "true",
         .help = "Mark nodes whose turn is still to come with a taint (PreferNoSchedule), so that "
                 "pods are not put there only to move again"},
        {.name = "eviction-rate",
         .kind = OPTION_PARSED,
         .offset = FIELD(rate),
         .arg = "N",
         .initial = "20",
         .env = "SLIPWAY_EVICTION_RATE",
         .parse = drain_rate_parse,
         .help = "Evictions a second, all nodes together; 0 is no limit"},
        {.name = "rules",
         .kind = OPTION_STRING,
         .offset = FIELD(rules),
         .arg = "FILE",
         .env = "SLIPWAY_RULES",
         .hint = HINT_FILE,
         .help = "What shall happen to which pods: order, skip, wait, grace, deadline, "
                 "escalation; - is standard input"},
        {.name = "skip-check",
         .kind = OPTION_PARSED,
         .offset = FIELD(skip_checks),
         .arg = "CHECK",
         .words = drain_check_words,
         .hint = HINT_WORDS,
         .parse = parse_checks,
         .help = "Do not ask this check ('{prog} checks' lists them), or all; may be given several "
                 "times. Needs --reason: why it is safe to do without, which is kept on the node "
                 "with the cordon"},
        {.name = "surge",
         .kind = OPTION_FLAG,
         .offset = FIELD(surge),
         .help = "Give Deployments with one replica a second one before it is evicted"},
        {.name = "wait-rescheduled",
         .kind = OPTION_FLAG,
         .offset = FIELD(wait_rescheduled),
         .help = "A node is drained only when the owners of its pods are available again"},
        {.name = "volume-detach-timeout",
         .kind = OPTION_DURATION,
         .offset = FIELD(detach_timeout),
         .arg = "DURATION",
         .initial = "0",
         .help = "How long to wait for volumes to be detached; 0 is as long as for the pods"},
        {.name = "uncordon",
         .kind = OPTION_FLAG,
         .offset = FIELD(uncordon),
         .help = "Uncordon each node as soon as it is drained: a rolling rehearsal"},
        {.name = "uncordon-on-abort",
         .kind = OPTION_FLAG,
         .offset = FIELD(uncordon_on_abort),
         .help = "Uncordon what was cordoned here when the drain is stopped or fails"},
        {0}}};

const struct option_group drain_history_options = {
    "History options",
    (const struct option[]){
        {.name = "history",
         .kind = OPTION_STRING,
         .offset = FIELD(history),
         .arg = "FILE",
         .hint = HINT_FILE,
         .filled = true,
         .help = "How long pods took to end and to start in earlier drains: drain adds a line for "
                 "each, plan and rehearse read them"},
        {0}}};

const struct option_group drain_progress_options = {
    "Progress options",
    (const struct option[]){
        {.name = "progress",
         .kind = OPTION_PARSED,
         .offset = FIELD(progress),
         .arg = "HOW",
         .env = "SLIPWAY_PROGRESS",
         .words = progress_words,
         .hint = HINT_WORDS,
         .parse = parse_progress,
         .help = "What is shown on standard error: a live block (tty), lines (plain), events on "
                 "standard output (json), errors alone (quiet). auto is tty on a terminal, else "
                 "plain; without this flag and without a terminal it is what kubectl says"},
        {.name = "json",
         .kind = OPTION_FLAG,
         .offset = FIELD(json),
         .help = "The same as --progress=json"},
        {0}}};
#undef FIELD

enum progress drain_flags_progress(const struct drain_flags *f, const struct term *err, bool quiet,
                                   int verbose, char *(*env)(const char *name)) {
    if (f->json)
        return PROGRESS_JSON;
    if (f->progress && f->progress - 1 != PROGRESS_AUTO)
        return (enum progress)(f->progress - 1);
    if (!f->progress && !err->tty)
        return quiet ? PROGRESS_QUIET : PROGRESS_AUTO;
    return progress_choose(PROGRESS_AUTO, err, quiet, verbose, env);
}
