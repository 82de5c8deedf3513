/* Events as they are written. */
#include "engine/event.h"

#include <stdio.h>
#include <string.h>

#include "base/htab.h"
#include "base/jsonw.h"
#include "base/timefmt.h"

enum { INSTANCE_LEN = 128 }; /* bytes: what the server takes of who tells it */

void event_name(const struct event *e, char out[static EVENT_NAME_LEN + 1]) {
    char unique[24];
    uint32_t h = hash_more(hash_bytes(e->reason, strlen(e->reason)), &e->at, sizeof e->at);
    h = hash_more(h, strna(e->message), strlen(strna(e->message)));
    int tail = snprintf(unique, sizeof unique, ".%08x%08x", (unsigned)(e->at >> 20), h);
    size_t len = strnlen(e->name, EVENT_NAME_LEN - (size_t)tail);
    /* Cut in the middle of a name, it must still end like one. */
    while (len > 1 && (e->name[len - 1] == '.' || e->name[len - 1] == '-'))
        len--;
    snprintf(out, EVENT_NAME_LEN + 1, "%.*s%s", (int)len, e->name, unique);
}

void event_body(const struct event *e, const char *name, struct str *out) {
    char at[TIMEFMT_LEN];
    struct jsonw w;
    time_format(e->at, false, at);
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "Event");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", name);
    jsonw_kstr(&w, "namespace", EVENT_NAMESPACE);
    jsonw_end(&w);
    jsonw_kbegin(&w, "involvedObject", '{');
    jsonw_kstr(&w, "apiVersion", e->api_version);
    jsonw_kstr(&w, "kind", e->kind);
    jsonw_kstr(&w, "name", e->name);
    jsonw_kstr(&w, "uid", e->uid ? e->uid : e->name);
    jsonw_end(&w);
    jsonw_kstr(&w, "type", e->warning ? "Warning" : "Normal");
    jsonw_kstr(&w, "reason", e->reason);
    jsonw_kcut(&w, "message", e->message, EVENT_MESSAGE_LEN);
    jsonw_kbegin(&w, "source", '{');
    jsonw_kstr(&w, "component", "slipway");
    jsonw_end(&w);
    jsonw_kstr(&w, "reportingComponent", "slipway");
    jsonw_kcut(&w, "reportingInstance", str_empty(e->by) ? "slipway" : e->by, INSTANCE_LEN);
    jsonw_kstr(&w, "firstTimestamp", at);
    jsonw_kstr(&w, "lastTimestamp", at);
    jsonw_kint(&w, "count", 1);
    jsonw_end(&w);
}

void event_again(const struct event *e, unsigned count, struct str *out) {
    char at[TIMEFMT_LEN];
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "lastTimestamp", time_format(e->at, false, at));
    jsonw_kint(&w, "count", count);
    jsonw_end(&w);
}
