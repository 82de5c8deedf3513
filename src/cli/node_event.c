/* Events on Nodes. */
#include "cli/node_event.h"

#include "base/timefmt.h"
#include "cli/patient.h"
#include "engine/event.h"

enum { EVENT_SECONDS = 3 }; /* it is worth no longer wait */

bool node_event_write(struct session *s, const struct node_event *event) {
    _cleanup_str_ struct str body = STR_INIT;
    char name[EVENT_NAME_LEN + 1];
    struct patient p;
    struct event e = {.api_version = "v1",
                      .kind = "Node",
                      .name = event->node,
                      .reason = event->reason,
                      .message = event->message,
                      .warning = event->warning,
                      .at = cli_now(s->cli)};
    event_name(&e, name);
    event_body(&e, name, &body);
    patient_try(s,
                &(struct kube_op_spec){.method = "POST",
                                       .kind = &kind_event,
                                       .ns = EVENT_NAMESPACE,
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
