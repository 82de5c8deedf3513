/* Workloads by their pods. */
#include "model/workload.h"

#include <string.h>

/* What Deployments name their ReplicaSets by: up to ten letters of an alphabet without vowels
 * (SafeEncodeString() of apimachinery's pkg/util/rand, of a 32-bit number in decimal). */
static const char hash_letters[] = "bcdfghjklmnpqrstvwxz2456789";
enum { HASH_MIN = 5, HASH_MAX = 10 };
/* The digits of a CronJob's Jobs: minutes since 1970 (getJobName() of pkg/controller/cronjob),
 * eight of them since 1989. */
enum { MINUTES_MIN = 8, MINUTES_MAX = 9 };

/* The length of the name before its last dash, when between `min` and `max` of these characters and
 * nothing else follow; else all of it. */
static size_t stem(const char *name, const char *letters, size_t min, size_t max) {
    const char *dash = strrchr(name, '-');
    size_t n = dash ? strspn(dash + 1, letters) : 0;
    return dash && dash > name && n >= min && n <= max && !dash[1 + n] ? (size_t)(dash - name)
                                                                       : strlen(name);
}

void workload_name_of(const char *ns, const char *pod, const char *kind, const char *name,
                      struct str *out) {
    if (str_empty(kind) || str_empty(name) || streq(kind, "Node")) {
        kind = "Pod";
        name = pod;
    }
    size_t len = strlen(name);
    if (streq(kind, "ReplicaSet")) {
        size_t n = stem(name, hash_letters, HASH_MIN, HASH_MAX);
        kind = n < len ? "Deployment" : kind;
        len = n;
    } else if (streq(kind, "Job")) {
        size_t n = stem(name, "0123456789", MINUTES_MIN, MINUTES_MAX);
        kind = n < len ? "CronJob" : kind;
        len = n;
    }
    str_addf(out, "%s/%s/", strna(ns), kind);
    str_addn(out, name, len);
}

void workload_name(const struct pod *pod, struct str *out) {
    const struct owner *o = meta_controller(&pod->meta);
    workload_name_of(pod->meta.ns, strna(pod->meta.name), o ? o->kind : NULL, o ? o->name : NULL,
                     out);
}
