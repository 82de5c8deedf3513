/* Tests of kube/outcome.c: every row of the table of answers, worded as the real server words it
 * (pkg/registry/core/pod/storage/eviction.go, apimachinery's pkg/api/errors, apiserver's
 * pkg/admission/plugin/webhook/errors and pkg/admission/plugin/policy), through the decoder. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/outcome.h"
#include "kube/stream.h"
#include "support/pbwrite.h"

#define JSON "application/json"
#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html"
/* What every Status of the server begins with. */
#define FAILURE "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
#define SUCCESS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\","
#define NO_EVICTION                                                                                \
    "\"message\":\"Cannot evict pod as it would violate the pod's disruption budget.\","           \
    "\"reason\":\"TooManyRequests\","
#define PDB_CAUSE(text) "\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":\"" text "\"}]"

struct row {
    const char *what;
    int code;
    const char *type, *body;
    int64_t header; /* Retry-After, 0: none */
    bool flow_control;
    enum kube_outcome outcome;
    int64_t retry_after;
};

static const struct row table[] = {
    /* --- success --- */
    {"eviction accepted", 201, JSON, SUCCESS "\"code\":201}", 0, false, KUBE_OK, -1},
    {"eviction accepted, by the documentation", 200, JSON, SUCCESS "\"code\":200}", 0, false,
     KUBE_OK, -1},
    {"an object", 200, JSON, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", 0, false, KUBE_OK, -1},
    {"accepted", 202, JSON, "{}", 0, false, KUBE_OK, -1},
    {"nothing to say", 204, "", "", 0, false, KUBE_OK, -1},

    /* --- 404, 409, 410 --- */
    {"gone", 404, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" not found\",\"reason\":\"NotFound\","
             "\"details\":{\"name\":\"web-1\",\"kind\":\"pods\"},\"code\":404}",
     0, false, KUBE_NOT_FOUND, -1},
    {"UID precondition", 409, JSON,
     FAILURE "\"message\":\"Operation cannot be fulfilled on Pod \\\"web-1\\\": the UID in the "
             "precondition (1) does not match the UID in record (2). The object might have been "
             "deleted and then recreated\",\"reason\":\"Conflict\",\"details\":{\"name\":\"web-1\","
             "\"kind\":\"Pod\"},\"code\":409}",
     0, false, KUBE_CONFLICT, -1},
    {"resourceVersion precondition", 409, JSON,
     FAILURE "\"message\":\"Operation cannot be fulfilled on nodes \\\"n1\\\": the object has been "
             "modified; please apply your changes to the latest version and try again\",\"reason\":"
             "\"Conflict\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"},\"code\":409}",
     0, false, KUBE_CONFLICT, -1},
    {"exists already", 409, JSON,
     FAILURE "\"message\":\"leases.coordination.k8s.io \\\"slipway\\\" already exists\",\"reason\":"
             "\"AlreadyExists\",\"details\":{\"name\":\"slipway\",\"group\":\"coordination.k8s.io\""
             ",\"kind\":\"leases\"},\"code\":409}",
     0, false, KUBE_EXISTS, -1},
    {"version compacted", 410, JSON,
     FAILURE "\"message\":\"The resourceVersion for the provided watch is too old.\",\"reason\":"
             "\"Expired\",\"code\":410}",
     0, false, KUBE_EXPIRED, -1},
    {"gone as older servers say it", 410, JSON,
     FAILURE "\"message\":\"too old resource version: 1 (2)\",\"reason\":\"Gone\",\"code\":410}", 0,
     false, KUBE_EXPIRED, -1},

    /* --- 429: four origins --- */
    {"PDB allows nothing now", 429, JSON,
     FAILURE NO_EVICTION "\"details\":{" PDB_CAUSE(
         "The disruption budget web needs 2 healthy pods and has 2 currently") "},\"code\":429}",
     0, false, KUBE_PDB_NO_BUDGET, -1},
    {"PDB failed sync", 429, JSON,
     FAILURE NO_EVICTION "\"details\":{" PDB_CAUSE(
         "The disruption budget web does not allow evicting pods currently because it failed sync: "
         "found no controllers for pod \\\"web-1\\\"") "},\"code\":429}",
     0, false, KUBE_PDB_NO_BUDGET, -1},
    {"PDB not observed yet", 429, JSON,
     FAILURE NO_EVICTION "\"details\":{" PDB_CAUSE(
         "The disruption budget web is still being processed by the server.") ",\"retryAfterSeconds"
                                                                              "\":10},\"code\":"
                                                                              "429}",
     10, false, KUBE_PDB_NOT_OBSERVED, 10},
    {"priority and fairness", 429, TEXT, "Too many requests, please try again later.\n", 1, true,
     KUBE_THROTTLED, 1},
    {"max in flight", 429, TEXT, "Too many requests, please try again later.\n", 32, false,
     KUBE_THROTTLED, 32},
    {"shutting down", 429, TEXT, "The apiserver is shutting down, please try again later.\n", 5,
     false, KUBE_THROTTLED, 5},
    {"watch cache not ready", 429, JSON,
     FAILURE "\"message\":\"storage is (re)initializing\",\"reason\":\"TooManyRequests\","
             "\"details\":{\"retryAfterSeconds\":1},\"code\":429}",
     1, false, KUBE_THROTTLED, 1},
    {"KubeVirt evacuates", 429, JSON,
     FAILURE "\"message\":\"admission webhook \\\"virt-launcher-eviction-interceptor.kubevirt.io"
             "\\\" denied the request: Eviction triggered evacuation of VMI \\\"default/vm\\\"\","
             "\"reason\":\"TooManyRequests\",\"code\":429}",
     0, false, KUBE_NOT_YET, -1},
    {"a webhook that names a delay", 429, JSON,
     FAILURE "\"message\":\"admission webhook \\\"x.example\\\" denied the request: switchover in "
             "progress\",\"details\":{\"retryAfterSeconds\":20},\"code\":429}",
     20, false, KUBE_NOT_YET, 20},
    {"429 without words", 429, JSON, FAILURE "\"code\":429}", 0, false, KUBE_NOT_YET, -1},
    {"429 of a proxy", 429, HTML, "<h1>429 Too Many Requests</h1>", 0, false, KUBE_THROTTLED, -1},

    /* --- 403: three origins --- */
    {"namespace terminating", 403, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" is forbidden: unable to create new content in "
             "namespace a because it is being terminated\",\"reason\":\"Forbidden\",\"details\":{"
             "\"name\":\"web-1\",\"kind\":\"pods\",\"causes\":[{\"reason\":\"NamespaceTerminating\""
             ",\"message\":\"namespace a is being terminated\",\"field\":\"metadata.namespace\"}]},"
             "\"code\":403}",
     0, false, KUBE_NS_TERMINATING, -1},
    {"PDB with a negative count", 403, JSON,
     FAILURE "\"message\":\"poddisruptionbudget.policy \\\"web\\\" is forbidden: pdb disruptions "
             "allowed is negative\",\"reason\":\"Forbidden\",\"details\":{\"name\":\"web\","
             "\"group\":\"policy\",\"kind\":\"poddisruptionbudget\"},\"code\":403}",
     0, false, KUBE_PDB_BROKEN, -1},
    {"PDB with too many entries", 403, JSON,
     FAILURE "\"message\":\"poddisruptionbudget.policy \\\"web\\\" is forbidden: DisruptedPods map "
             "too big - too many evictions not confirmed by PDB controller\",\"reason\":"
             "\"Forbidden\",\"details\":{\"name\":\"web\",\"group\":\"policy\",\"kind\":"
             "\"poddisruptionbudget\"},\"code\":403}",
     0, false, KUBE_PDB_BROKEN, -1},
    {"PDB broken, with its cause since 1.37", 403, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" is forbidden\",\"reason\":\"Forbidden\",\"details\":"
             "{" PDB_CAUSE("pdb disruptions allowed is negative") "},\"code\":403}",
     0, false, KUBE_PDB_BROKEN, -1},
    {"no permission", 403, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" is forbidden: User \\\"jane\\\" cannot create "
             "resource \\\"pods/eviction\\\" in API group \\\"\\\" in the namespace \\\"a\\\"\","
             "\"reason\":\"Forbidden\",\"details\":{\"name\":\"web-1\",\"kind\":\"pods\"},"
             "\"code\":403}",
     0, false, KUBE_FORBIDDEN, -1},
    {"no permission for PDBs is not a broken PDB", 403, JSON,
     FAILURE "\"message\":\"poddisruptionbudgets.policy is forbidden: User \\\"jane\\\" cannot list"
             " resource\",\"reason\":\"Forbidden\",\"details\":{\"group\":\"policy\",\"kind\":"
             "\"poddisruptionbudgets\"},\"code\":403}",
     0, false, KUBE_FORBIDDEN, -1},
    {"403 of a proxy", 403, HTML, "<html>Forbidden</html>", 0, false, KUBE_FORBIDDEN, -1},

    /* --- an admission webhook or policy says no --- */
    {"a webhook's no", 403, JSON,
     FAILURE
     "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: not on a "
     "Friday\",\"reason\":\"Forbidden\",\"code\":403}",
     0, false, KUBE_DENIED, -1},
    {"a webhook's no, as it is without a code", 400, JSON,
     FAILURE
     "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: not on a "
     "Friday\",\"code\":400}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that says no more", 400, JSON,
     FAILURE "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request without "
             "explanation\",\"code\":400}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that gives its reason as a word", 422, JSON,
     FAILURE
     "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: Invalid\","
     "\"reason\":\"Invalid\",\"code\":422}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that calls it a conflict", 409, JSON,
     FAILURE "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: busy\","
             "\"reason\":\"Conflict\",\"code\":409}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that says not found, which the pod is not", 404, JSON,
     FAILURE
     "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: no such "
     "shard\",\"reason\":\"NotFound\",\"code\":404}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that calls it an error of its own", 500, JSON,
     FAILURE
     "\"message\":\"admission webhook \\\"guard.example.com\\\" denied the request: unexpected\","
     "\"reason\":\"InternalError\",\"code\":500}",
     0, false, KUBE_DENIED, -1},
    {"a policy's no", 422, JSON,
     FAILURE
     "\"message\":\"pods \\\"web-1\\\" is forbidden: ValidatingAdmissionPolicy 'no-evict' with "
     "binding 'no-evict-prod' denied request: not in production\",\"reason\":\"Invalid\","
     "\"details\":{\"name\":\"web-1\",\"kind\":\"pods\",\"causes\":[{\"message\":"
     "\"ValidatingAdmissionPolicy 'no-evict' with binding 'no-evict-prod' denied request: not in "
     "production\"}]},\"code\":422}",
     0, false, KUBE_DENIED, -1},
    {"a policy's no that says Forbidden", 403, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" is forbidden: ValidatingAdmissionPolicy 'no-evict' "
             "denied request: failed expression: false\",\"reason\":\"Forbidden\",\"code\":403}",
     0, false, KUBE_DENIED, -1},
    {"a policy's no that says Unauthorized: not our credentials", 401, JSON,
     FAILURE
     "\"message\":\"nodes \\\"n1\\\" is forbidden: ValidatingAdmissionPolicy 'p' with binding "
     "'b' denied request: who are you\",\"reason\":\"Unauthorized\",\"code\":401}",
     0, false, KUBE_DENIED, -1},
    {"a policy's no that says too large", 413, JSON,
     FAILURE
     "\"message\":\"nodes \\\"n1\\\" is forbidden: ValidatingAdmissionPolicy 'p' with binding "
     "'b' denied request: big\",\"reason\":\"RequestEntityTooLarge\",\"code\":413}",
     0, false, KUBE_DENIED, -1},
    {"a mutating policy's", 403, JSON,
     FAILURE
     "\"message\":\"policy 'm' with binding 'b' denied request: no params found\",\"reason\":"
     "\"Invalid\",\"details\":{\"name\":\"web-1\",\"kind\":\"pods\"},\"code\":403}",
     0, false, KUBE_DENIED, -1},
    {"a mutating policy's, without a binding", 403, JSON,
     FAILURE
     "\"message\":\"policy \\\"m\\\" denied request: failed to configure policy\",\"reason\":"
     "\"Forbidden\",\"code\":403}",
     0, false, KUBE_DENIED, -1},
    {"a webhook that cannot try", 400, JSON,
     FAILURE "\"message\":\"admission webhook \\\"guard.example.com\\\" does not support dry run\","
             "\"reason\":\"BadRequest\",\"code\":400}",
     0, false, KUBE_INVALID, -1},
    {"a user of that name has no permission", 403, JSON,
     FAILURE "\"message\":\"pods \\\"web-1\\\" is forbidden: User \\\"policy 'x' denied request: "
             "\\\" cannot create resource \\\"pods/eviction\\\" in API group \\\"\\\"\",\"reason\":"
             "\"Forbidden\",\"code\":403}",
     0, false, KUBE_FORBIDDEN, -1},
    {"the words of a proxy", 403, TEXT, "admission webhook \"x\" denied the request: no", 0, false,
     KUBE_FORBIDDEN, -1},

    /* --- 5xx --- */
    {"two PDBs", 500, JSON,
     FAILURE "\"message\":\"This pod has more than one PodDisruptionBudget, which the eviction "
             "subresource does not support.\",\"code\":500}",
     0, false, KUBE_PDB_MULTIPLE, -1},
    {"a webhook that fails", 500, JSON,
     FAILURE "\"message\":\"Internal error occurred: failed calling webhook \\\"x\\\": context "
             "deadline exceeded\",\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message"
             "\":\"failed calling webhook \\\"x\\\": context deadline exceeded\"}]},\"code\":500}",
     0, false, KUBE_SERVER_ERROR, -1},
    {"an internal error that quotes the words", 500, JSON,
     FAILURE "\"message\":\"Internal error occurred: more than one PodDisruptionBudget\","
             "\"reason\":\"InternalError\",\"code\":500}",
     0, false, KUBE_SERVER_ERROR, -1},
    {"server timeout", 500, JSON,
     FAILURE "\"message\":\"The POST operation against pods could not be completed at this time, "
             "please try again.\",\"reason\":\"ServerTimeout\",\"details\":{\"name\":\"POST\","
             "\"kind\":\"pods\",\"retryAfterSeconds\":2},\"code\":500}",
     2, false, KUBE_SERVER_ERROR, 2},
    {"unavailable", 503, JSON,
     FAILURE "\"message\":\"the server is currently unable to handle the request\",\"reason\":"
             "\"ServiceUnavailable\",\"code\":503}",
     0, false, KUBE_SERVER_ERROR, -1},
    {"PDB contended", 504, JSON,
     FAILURE "\"message\":\"Timeout: couldn't update PodDisruptionBudget \\\"web\\\" due to "
             "conflicts\",\"reason\":\"Timeout\",\"details\":{\"retryAfterSeconds\":10},"
             "\"code\":504}",
     10, false, KUBE_TIMED_OUT, 10},
    {"the server is behind", 504, JSON,
     FAILURE "\"message\":\"Timeout: Too large resource version: 200, current: 100\",\"reason\":"
             "\"Timeout\",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\","
             "\"message\":\"Too large resource version\"}],\"retryAfterSeconds\":1},\"code\":504}",
     1, false, KUBE_TOO_NEW, 1},
    {"504 of a proxy", 504, HTML, "<h1>504 Gateway Time-out</h1>", 0, false, KUBE_SERVER_ERROR, -1},
    {"502 of a proxy", 502, HTML, "<h1>502 Bad Gateway</h1>", 0, false, KUBE_SERVER_ERROR, -1},
    {"503 of a proxy, with a delay", 503, HTML, "", 30, false, KUBE_SERVER_ERROR, 30},
    {"599", 599, "", "", 0, false, KUBE_SERVER_ERROR, -1},

    /* --- what we did wrong --- */
    {"bad request", 400, JSON,
     FAILURE "\"message\":\"name in URL does not match name in Eviction object\",\"reason\":"
             "\"BadRequest\",\"code\":400}",
     0, false, KUBE_INVALID, -1},
    {"invalid", 422, JSON,
     FAILURE "\"message\":\"ListOptions.meta.k8s.io \\\"\\\" is invalid: sendInitialEvents: "
             "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate"
             " is enabled\",\"reason\":\"Invalid\",\"code\":422}",
     0, false, KUBE_INVALID, -1},
    {"too large", 413, JSON, FAILURE "\"reason\":\"RequestEntityTooLarge\",\"code\":413}", 0, false,
     KUBE_INVALID, -1},
    {"not authenticated", 401, JSON,
     FAILURE "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}", 0, false,
     KUBE_UNAUTHORIZED, -1},
    {"not authenticated, says a proxy", 401, HTML, "", 0, false, KUBE_UNAUTHORIZED, -1},
    {"method not allowed", 405, JSON, FAILURE "\"reason\":\"MethodNotAllowed\",\"code\":405}", 0,
     false, KUBE_UNSUPPORTED, -1},
    {"not acceptable", 406, JSON, FAILURE "\"reason\":\"NotAcceptable\",\"code\":406}", 0, false,
     KUBE_UNSUPPORTED, -1},
    {"patch type of built-ins on a CRD", 415, JSON,
     FAILURE "\"reason\":\"UnsupportedMediaType\",\"code\":415}", 0, false, KUBE_UNSUPPORTED, -1},

    /* --- not a Kubernetes API server --- */
    {"a web server's 404", 404, HTML, "<h1>Not Found</h1>", 0, false, KUBE_NOT_KUBERNETES, -1},
    {"JSON, but no Status", 404, JSON, "{\"error\":\"nope\"}", 0, false, KUBE_NOT_KUBERNETES, -1},
    {"HTTP to an HTTPS port", 400, TEXT, "Client sent an HTTP request to an HTTPS server.\n", 0,
     false, KUBE_NOT_KUBERNETES, -1},
    {"redirected to a login", 302, HTML, "", 0, false, KUBE_NOT_KUBERNETES, -1},
    {"moved", 301, JSON, "{}", 0, false, KUBE_NOT_KUBERNETES, -1},
};

static void check_row(const struct row *row, enum kube_format format, bool typed,
                      struct view body) {
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    struct status status = {0};
    codec_init(&codec, pool);
    struct kube_head head = {
        .code = row->code,
        .content_type = row->type,
        .retry_after = row->header ? row->header : -1,
        .flow_control = row->flow_control,
    };
    bool is_status = typed && kube_decode_status(&codec, format, body, &status, NULL) == 0;
    enum kube_outcome outcome = kube_outcome_of(row->code, &head, &status, is_status);
    if (outcome != row->outcome)
        fail_msg("%s: %s instead of %s", row->what, kube_outcome_row(outcome)->name,
                 kube_outcome_row(row->outcome)->name);
    assert_int_equal(kube_retry_after(&head, is_status ? &status : NULL), row->retry_after);
    /* Without the header the delay of the Status counts: an event of a watch has no header. */
    if (is_status && row->code != 200)
        assert_int_equal(kube_retry_after(NULL, &status), row->retry_after);
    type_release(&type_status, pool, &status, NULL);
    codec_done(&codec);
    assert_int_equal(pool_stats(pool).entries, 0);
    pool_free(pool);
}

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        enum kube_format format;
        bool typed = kube_format_of(table[i].type, &format);
        check_row(&table[i], format, typed, view_of(table[i].body));
    }
}

/* The most important ones as they come over protobuf. */
static void test_protobuf(void **state) {
    (void)state;
    struct str message = STR_INIT, body = STR_INIT;
    pb_text(&message, 2, "Failure");
    pb_text(&message, 3, "Cannot evict pod as it would violate the pod's disruption budget.");
    pb_text(&message, 4, "TooManyRequests");
    size_t details = pb_open(&message, 5);
    size_t cause = pb_open(&message, 4);
    pb_text(&message, 1, "DisruptionBudget");
    pb_text(&message, 2, "The disruption budget web is still being processed by the server.");
    pb_close(&message, cause);
    pb_num(&message, 5, 10);
    pb_close(&message, details);
    pb_num(&message, 6, 429);
    pb_envelope(&body, "v1", "Status", &message);
    const struct row row = {
        .what = "PDB not observed, protobuf",
        .code = 429,
        .type = "application/vnd.kubernetes.protobuf",
        .outcome = KUBE_PDB_NOT_OBSERVED,
        .retry_after = 10,
    };
    check_row(&row, KUBE_PROTOBUF, true, (struct view){body.p, body.len});
    str_done(&body);
    str_done(&message);
}

/* The header is what counts when it says something, also zero; a Status of zero says nothing. */
static void test_retry_after(void **state) {
    (void)state;
    struct status_details details = {.retry_after = 7};
    struct status status = {.details = &details};
    struct kube_head head = {.retry_after = 3};
    assert_int_equal(kube_retry_after(&head, &status), 3);
    head.retry_after = 0;
    assert_int_equal(kube_retry_after(&head, &status), 0);
    head.retry_after = -1;
    assert_int_equal(kube_retry_after(&head, &status), 7);
    details.retry_after = 0;
    assert_int_equal(kube_retry_after(&head, &status), -1);
    details.retry_after = -5;
    assert_int_equal(kube_retry_after(&head, &status), -1);
    status.details = NULL;
    assert_int_equal(kube_retry_after(&head, &status), -1);
    assert_int_equal(kube_retry_after(NULL, NULL), -1);
}

static void test_failures(void **state) {
    (void)state;
    static const struct {
        int error;
        bool sent;
        enum kube_outcome outcome;
    } rows[] = {
        {-ECONNREFUSED, false, KUBE_UNREACHABLE},
        {-EHOSTUNREACH, false, KUBE_UNREACHABLE},
        {-ETIMEDOUT, false, KUBE_UNREACHABLE},
        {-EPROTO, false, KUBE_UNREACHABLE},
        {-ETIMEDOUT, true, KUBE_UNKNOWN},
        {-ECONNRESET, true, KUBE_UNKNOWN},
        {-EPROTO, true, KUBE_UNKNOWN},
        {-EACCES, false, KUBE_NO_CREDENTIALS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kube_done done = {.error = rows[i].error, .sent = rows[i].sent};
        assert_int_equal(kube_outcome_of_failure(&done), rows[i].outcome);
    }
}

/* A group that the API server does not serve is a 404 in plain text; its own marks tell it from a
 * web server. */
static void test_no_such_group(void **state) {
    (void)state;
    struct kube_head head = {.code = 404, .content_type = "text/plain", .retry_after = -1};
    assert_int_equal(kube_outcome_of(404, &head, NULL, false), KUBE_NOT_KUBERNETES);
    head.api_server = true;
    assert_int_equal(kube_outcome_of(404, &head, NULL, false), KUBE_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_protobuf),
        cmocka_unit_test(test_retry_after),   cmocka_unit_test(test_failures),
        cmocka_unit_test(test_no_such_group),
    };
    return cmocka_run_group_tests_name("kube/outcome", tests, NULL, NULL);
}
