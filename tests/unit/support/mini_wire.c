/* How the tiny API writes what it sends. */
#include "support/mini_wire.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "support/pbwrite.h"

const char *mini_ns(int pod) {
    return pod % 2 ? "a" : "b";
}

const char *mini_name(int pod, char buf[static MINI_NAME]) {
    snprintf(buf, MINI_NAME, "pod-%d", pod / 2);
    return buf;
}

static const char *number(const char *prefix, uint64_t n, char buf[static MINI_NAME]) {
    snprintf(buf, MINI_NAME, "%s%" PRIu64, prefix, n);
    return buf;
}

const char *mini_content_type(const struct mini_wire *w, bool stream) {
    if (!w->protobuf)
        return "application/json";
    return stream ? "application/vnd.kubernetes.protobuf;stream=watch"
                  : "application/vnd.kubernetes.protobuf";
}

/* --- JSON --- */

static void json_pod(struct jsonw *j, int pod, const struct mini_pod *p, uint64_t version,
                     bool initial_end) {
    char buf[MINI_NAME];
    jsonw_begin(j, '{');
    jsonw_kstr(j, "kind", "Pod");
    jsonw_kstr(j, "apiVersion", "v1");
    jsonw_kbegin(j, "metadata", '{');
    if (pod >= 0) {
        jsonw_kstr(j, "name", mini_name(pod, buf));
        jsonw_kstr(j, "namespace", mini_ns(pod));
        jsonw_kstr(j, "uid", number("uid-", p->uid, buf));
    }
    jsonw_kstr(j, "resourceVersion", number("", version, buf));
    if (initial_end) {
        jsonw_kbegin(j, "annotations", '{');
        jsonw_kstr(j, "k8s.io/initial-events-end", "true");
        jsonw_end(j);
    }
    if (pod >= 0 && p->app) {
        jsonw_kbegin(j, "labels", '{');
        jsonw_kstr(j, "app", number("app", (uint64_t)p->app, buf));
        jsonw_end(j);
    }
    jsonw_end(j);
    jsonw_kbegin(j, "spec", '{');
    if (pod >= 0 && p->node)
        jsonw_kstr(j, "nodeName", number("n", (uint64_t)p->node, buf));
    jsonw_end(j);
    jsonw_end(j);
}

void mini_status(struct str *out, int code, const char *reason, const char *message,
                 const char *cause, int retry_after) {
    struct jsonw j;
    jsonw_init(&j, out, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "kind", "Status");
    jsonw_kstr(&j, "apiVersion", "v1");
    jsonw_kstr(&j, "status", "Failure");
    jsonw_kstr(&j, "message", message);
    jsonw_kstr(&j, "reason", reason);
    if (cause || retry_after) {
        jsonw_kbegin(&j, "details", '{');
        if (cause) {
            jsonw_kbegin(&j, "causes", '[');
            jsonw_begin(&j, '{');
            jsonw_kstr(&j, "reason", cause);
            jsonw_end(&j);
            jsonw_end(&j);
        }
        if (retry_after)
            jsonw_kint(&j, "retryAfterSeconds", retry_after);
        jsonw_end(&j);
    }
    jsonw_kint(&j, "code", code);
    jsonw_end(&j);
}

/* --- protobuf --- */

static void pb_pod(struct str *out, int pod, const struct mini_pod *p, uint64_t version,
                   bool initial_end) {
    char buf[MINI_NAME];
    size_t meta = pb_open(out, 1);
    if (pod >= 0) {
        pb_text(out, 1, mini_name(pod, buf));
        pb_text(out, 3, mini_ns(pod));
        pb_text(out, 5, number("uid-", p->uid, buf));
    }
    pb_text(out, 6, number("", version, buf));
    if (pod >= 0 && p->app)
        pb_pair(out, 11, "app", number("app", (uint64_t)p->app, buf));
    if (initial_end)
        pb_pair(out, 12, "k8s.io/initial-events-end", "true");
    pb_close(out, meta);
    size_t spec = pb_open(out, 2);
    if (pod >= 0 && p->node)
        pb_text(out, 10, number("n", (uint64_t)p->node, buf));
    pb_close(out, spec);
}

/* --- both --- */

void mini_event(const struct mini_wire *w, struct str *out, const char *type, int pod,
                const struct mini_pod *p, uint64_t version, bool initial_end) {
    if (w->protobuf) {
        _cleanup_str_ struct str message = STR_INIT, envelope = STR_INIT;
        pb_pod(&message, pod, p, version, initial_end);
        pb_envelope(&envelope, "v1", "Pod", &message);
        pb_event(out, type, &envelope);
        return;
    }
    struct jsonw j;
    str_addf(out, "{\"type\":\"%s\",\"object\":", type);
    jsonw_init(&j, out, false);
    json_pod(&j, pod, p, version, initial_end);
    str_add(out, "}\n");
}

void mini_error(const struct mini_wire *w, struct str *out, int code, const char *reason,
                const char *message) {
    if (w->protobuf) {
        _cleanup_str_ struct str status = STR_INIT, envelope = STR_INIT;
        pb_text(&status, 2, "Failure");
        pb_text(&status, 3, message);
        pb_text(&status, 4, reason);
        pb_num(&status, 6, code);
        pb_envelope(&envelope, "v1", "Status", &status);
        pb_event(out, "ERROR", &envelope);
        return;
    }
    str_add(out, "{\"type\":\"ERROR\",\"object\":");
    mini_status(out, code, reason, message, NULL, 0);
    str_add(out, "}\n");
}

void mini_list(const struct mini_wire *w, struct str *out, const struct mini_pod *pods,
               const bool *wanted, int from, int to, uint64_t version, const char *token) {
    char buf[MINI_NAME];
    if (w->protobuf) {
        _cleanup_str_ struct str list = STR_INIT;
        size_t meta = pb_open(&list, 1);
        pb_text(&list, 2, number("", version, buf));
        if (token)
            pb_text(&list, 3, token);
        pb_close(&list, meta);
        for (int i = from; i < to; i++) {
            if (!wanted[i])
                continue;
            size_t item = pb_open(&list, 2);
            pb_pod(&list, i, &pods[i], pods[i].version, false);
            pb_close(&list, item);
        }
        pb_envelope(out, "v1", "PodList", &list);
        return;
    }
    str_addf(out,
             "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
             "\"%" PRIu64 "\"%s%s%s},\"items\":[",
             version, token ? ",\"continue\":\"" : "", strna(token), token ? "\"" : "");
    bool first = true;
    for (int i = from; i < to; i++) {
        if (!wanted[i])
            continue;
        struct jsonw j;
        str_add(out, first ? "" : ",");
        jsonw_init(&j, out, false);
        json_pod(&j, i, &pods[i], pods[i].version, false);
        first = false;
    }
    str_add(out, "]}\n");
}

void mini_garbage(const struct mini_wire *w, struct str *out) {
    if (w->protobuf)
        str_addn(out, "\xff\xff\xff\xff\xff\xff\xff\xff", 8); /* a frame of 4 GiB */
    else
        str_add(out, "garbage");
}
