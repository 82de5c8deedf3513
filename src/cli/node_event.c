/* Events on Nodes. */
#include "cli/node_event.h"

#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/patient.h"

enum {
    EVENT_SECONDS = 3,   /* it is worth no longer wait */
    NODE_MAX = 253 - 17, /* a name less the time, 16 digits and a full stop */
};

/* As client-go makes them: the object and the time. A long name is cut so that both have room, and
 * must then still end like one. */
static char *event_name(const char *node, int64_t now) {
    size_t len = strnlen(node, NODE_MAX);
    while (len > 1 && (node[len - 1] == '.' || node[len - 1] == '-'))
        len--;
    return xasprintf("%.*s.%llx", (int)len, node, (unsigned long long)now * 1000);
}

static void add_body(const struct node_event *e, int64_t now, struct str *body) {
    char when[TIMEFMT_LEN];
    struct jsonw w;
    time_format(now, false, when);
    jsonw_init(&w, body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "Event");
    jsonw_kbegin(&w, "metadata", '{');
    _cleanup_free_ char *name = event_name(e->node, now);
    jsonw_kstr(&w, "name", name);
    jsonw_kstr(&w, "namespace", "default");
    jsonw_end(&w);
    jsonw_kbegin(&w, "involvedObject", '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "Node");
    jsonw_kstr(&w, "name", e->node);
    jsonw_kstr(&w, "uid", e->node); /* as the kubelet's: kubectl describe finds both */
    jsonw_end(&w);
    jsonw_kstr(&w, "reason", e->reason);
    jsonw_kstr(&w, "message", e->message);
    jsonw_kstr(&w, "type", e->warning ? "Warning" : "Normal");
    jsonw_kbegin(&w, "source", '{');
    jsonw_kstr(&w, "component", "slipway");
    jsonw_end(&w);
    jsonw_kstr(&w, "reportingComponent", "slipway");
    jsonw_kstr(&w, "firstTimestamp", when);
    jsonw_kstr(&w, "lastTimestamp", when);
    jsonw_kint(&w, "count", 1);
    jsonw_end(&w);
}

bool node_event_write(struct session *s, const struct node_event *event) {
    _cleanup_str_ struct str body = STR_INIT;
    struct patient p;
    add_body(event, cli_now(s->cli), &body);
    patient_try(s,
                &(struct kube_op_spec){.method = "POST",
                                       .kind = &kind_event,
                                       .ns = "default",
                                       .query = "fieldManager=slipway",
                                       .body = str_get(&body),
                                       .timeout = SEC(EVENT_SECONDS)},
                &p);
    bool answered = p.outcome != KUBE_UNKNOWN;
    if (p.outcome != KUBE_OK)
        log_info(&s->cli->log, "no Event on node %s: %s", event->node, p.message);
    patient_done(s, NULL, &p);
    return answered;
}
