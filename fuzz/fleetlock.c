/* Bodies of FleetLock requests: whatever comes is a request that keeps to the protocol, or is
 * refused with an answer that nobody takes for a grant. */
#include "fleetlock/message.h"

#include <jansson.h>

#include "base/json.h"
#include "fuzz.h"

static void check_refusal(const struct fleetlock_reply *reply) {
    _cleanup_str_ struct str body = STR_INIT;
    int status = fleetlock_write(reply, 404, &body);
    FUZZ_CHECK(status >= 400 && status < 500);
    _cleanup_json_ json_t *root = json_loadb(str_get(&body), body.len, 0, NULL);
    FUZZ_CHECK(json_str(root, "kind") && !str_empty(json_str(root, "value")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = ARENA_INIT;
    struct fleetlock_request req;
    struct fleetlock_reply reply;
    struct fleetlock_input in = {.method = "POST",
                                 .path = "/v1/pre-reboot",
                                 .header = "true",
                                 .body = {(const char *)data, size}};
    if (fleetlock_read(&in, &arena, &req, &reply)) {
        size_t len = strlen(req.group);
        FUZZ_CHECK(size <= FLEETLOCK_BODY_MAX && *req.id && strlen(req.id) <= 256 && len);
        FUZZ_CHECK(strspn(req.group, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789.-") == len);
    } else {
        check_refusal(&reply);
    }
    arena_done(&arena);
    return 0;
}
