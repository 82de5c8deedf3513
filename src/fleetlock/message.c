/* Requests and answers of the FleetLock protocol. */
#include "fleetlock/message.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"

enum {
    ID_MAX = 256,
    GROUP_MAX = 253,
};

const struct fleetlock_kind_row fleetlock_kinds[FLEETLOCK_KINDS] = {
    [FLEETLOCK_OK] = {"ok", 200, "Go on: the node may reboot, or its report was taken."},
    [FLEETLOCK_SLOTS_FULL] = {"slots_full", 0, "Other nodes hold all the slots of the policy."},
    [FLEETLOCK_DRAINING] = {"draining", 0,
                            "The node has a slot and still has pods to lose, or is about to get "
                            "one."},
    [FLEETLOCK_BLOCKED] = {"blocked", 0,
                           "A gate or a pod keeps the node from going; the value says which."},
    [FLEETLOCK_BAD_METHOD] = {"method_not_allowed", 405, "The protocol has POST alone."},
    [FLEETLOCK_BAD_PATH] = {"unknown_path", 404,
                            "The protocol has /v1/pre-reboot and /v1/steady-state."},
    [FLEETLOCK_NO_HEADER] = {"missing_header", 400,
                             "The header fleet-lock-protocol has to be there, and to be true."},
    [FLEETLOCK_TOO_LARGE] = {"too_large", 413, "The body is longer than any request is."},
    [FLEETLOCK_BAD_REQUEST] = {"bad_request", 400,
                               "The body is not what the protocol has; the value says why."},
    [FLEETLOCK_UNKNOWN_NODE] = {"unknown_node", 400, "No node of the cluster has that id."},
    [FLEETLOCK_AMBIGUOUS_NODE] = {"ambiguous_node", 409,
                                  "Several nodes have that id, or several policies that node."},
    [FLEETLOCK_GROUP_MISMATCH] = {"group_mismatch", 403,
                                  "The policy of the node does not have that group."},
    [FLEETLOCK_CALLER_MISMATCH] = {"caller_mismatch", 403,
                                   "The request comes from an address that is not the node's."},
    [FLEETLOCK_RATE_LIMITED] = {"rate_limited", 429, "The caller asks too often."},
    [FLEETLOCK_NOT_READY] = {"not_ready", 503, "The node is not Ready yet."},
    [FLEETLOCK_UNAVAILABLE] = {"unavailable", 503,
                               "Slipway cannot tell at the moment; the value says why."},
};

static bool no(struct fleetlock_reply *reply, enum fleetlock_kind kind, const char *value) {
    *reply = (struct fleetlock_reply){kind, value};
    return false;
}

static bool is_group(const char *s) {
    size_t len = strlen(s);
    for (const char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
            return false;
    return len && len <= GROUP_MAX;
}

static bool is_id(const char *s) {
    size_t len = strlen(s);
    for (const char *p = s; *p; p++)
        if (iscntrl((unsigned char)*p))
            return false;
    return len && len <= ID_MAX;
}

/* In our own words: those of the library are for programmers. */
static const char *problem_of(const json_error_t *where) {
    switch (json_error_code(where)) {
    case json_error_duplicate_key:
        return "the body has a key twice";
    case json_error_null_character:
        return "the body has a NUL in a text";
    case json_error_numeric_overflow:
        return "the body has a number that is too large";
    case json_error_stack_overflow:
        return "the body is nested too deeply";
    default:
        return "the body is no JSON";
    }
}

static bool read_body(const struct fleetlock_input *in, struct arena *arena,
                      struct fleetlock_request *req, struct fleetlock_reply *reply) {
    json_error_t where;
    _cleanup_json_ json_t *root =
        json_loadb(in->body.p, in->body.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (!root)
        return no(reply, FLEETLOCK_BAD_REQUEST,
                  arena_printf(arena, "%s: line %d, column %d", problem_of(&where), where.line,
                               where.column));
    const json_t *params = json_object_get(root, "client_params");
    const char *id = json_str(params, "id"), *group = json_str(params, "group");
    if (!json_is_object(params))
        return no(reply, FLEETLOCK_BAD_REQUEST, "the body has no client_params");
    if (!id || !is_id(id))
        return no(
            reply, FLEETLOCK_BAD_REQUEST,
            arena_printf(arena, "client_params.id has to be a text of 1 to %d characters", ID_MAX));
    if (!group || !is_group(group))
        return no(reply, FLEETLOCK_BAD_REQUEST,
                  arena_printf(arena,
                               "client_params.group has to be 1 to %d letters, digits, dots and "
                               "dashes",
                               GROUP_MAX));
    req->id = arena_strndup(arena, id, strlen(id));
    req->group = arena_strndup(arena, group, strlen(group));
    return true;
}

bool fleetlock_read(const struct fleetlock_input *in, struct arena *arena,
                    struct fleetlock_request *req, struct fleetlock_reply *reply) {
    *req = (struct fleetlock_request){0};
    if (streq(in->path, "/v1/pre-reboot"))
        req->api = FLEETLOCK_PRE_REBOOT;
    else if (streq(in->path, "/v1/steady-state"))
        req->api = FLEETLOCK_STEADY_STATE;
    else
        return no(reply, FLEETLOCK_BAD_PATH, "there are /v1/pre-reboot and /v1/steady-state");
    if (!streq(in->method, "POST"))
        return no(reply, FLEETLOCK_BAD_METHOD, "the protocol has POST alone");
    if (!in->header || !streq(in->header, "true"))
        return no(reply, FLEETLOCK_NO_HEADER,
                  "the header \"fleet-lock-protocol: true\" is missing");
    if (in->too_large || in->body.len > FLEETLOCK_BODY_MAX)
        return no(reply, FLEETLOCK_TOO_LARGE,
                  arena_printf(arena, "the body is longer than %d bytes", FLEETLOCK_BODY_MAX));
    return read_body(in, arena, req, reply);
}

enum fleetlock_kind fleetlock_kind_of(int status) {
    switch (status) {
    case 413:
    case 431:
        return FLEETLOCK_TOO_LARGE;
    case 429:
        return FLEETLOCK_RATE_LIMITED;
    default:
        return FLEETLOCK_BAD_REQUEST;
    }
}

int fleetlock_write(const struct fleetlock_reply *reply, int deny_status, struct str *body) {
    const struct fleetlock_kind_row *row = &fleetlock_kinds[reply->kind];
    struct jsonw w;
    jsonw_init(&w, body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", row->word);
    jsonw_kstr(&w, "value", reply->value);
    jsonw_end(&w);
    return row->status ? row->status : deny_status;
}
