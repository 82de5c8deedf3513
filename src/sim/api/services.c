/* Cluster addresses and node ports. */
#include "sim/api/services.h"

#include <stdio.h>

#include "sim/api/registry.h"

enum { PORT_FIRST = 30000, PORT_LAST = 32767, ADDRESSES = 1 << 16 };

/* Is it in use by any Service? `port` 0: look for the address. */
static bool used(struct api *a, const char *address, int port) {
    const struct resource *res = api_resource(a, "", "v1", "services");
    struct snapshot *snap = shelf_snapshot(res->shelf);
    bool found = false;
    for (size_t i = 0; i < snap->n && !found; i++) {
        _cleanup_json_ json_t *obj = record_json(snap->items[i]);
        const json_t *spec = json_object_get(obj, "spec");
        if (!port) {
            found = str_same(json_str(spec, "clusterIP"), address);
            continue;
        }
        size_t j;
        json_t *p;
        json_array_foreach(json_object_get(spec, "ports"), j, p) found =
            found || json_integer_value(json_object_get(p, "nodePort")) == port;
    }
    snapshot_unref(snap);
    return found;
}

static int give_address(struct api *a, json_t *spec, struct failure *f) {
    char address[32];
    for (int tries = 0; tries < 1000; tries++) {
        /* Not the first one, which is the API's own. */
        int n = (int)prng_range(&a->world->random, 2, ADDRESSES - 1);
        (void)snprintf(address, sizeof address, "10.96.%d.%d", n >> 8, n & 255);
        if (used(a, address, 0))
            continue;
        json_object_set_new(spec, "clusterIP", json_string(address));
        json_object_set_new(spec, "clusterIPs", json_pack("[s]", address));
        return 0;
    }
    return fail(f, 500, "InternalError",
                "Internal error occurred: failed to allocate a serviceIP: range is full");
}

/* The real server notes whose an address is before anybody looks at the name. */
static int fail_nameless(struct api *a, json_t *spec, struct failure *f) {
    if (give_address(a, spec, f))
        return -1;
    struct field_errors e = {0};
    field_error_shown(&e, FIELD_INVALID, "spec.clusterIPs", "[\"\"]",
                      "failed to allocate IP: IPAddress.networking.k8s.io \"%s\" is invalid: "
                      "spec.parentRef.name: Required value",
                      json_str(spec, "clusterIP"));
    fail_invalid(f, "", "Service", "", &e);
    field_errors_done(&e);
    return -1;
}

static bool wants_ports(const char *type) {
    return streq(type, "NodePort") || streq(type, "LoadBalancer");
}

int services_allocate(struct api *a, json_t *service, const json_t *old, struct failure *f) {
    json_t *spec = json_object_get(service, "spec");
    const char *type = strna(json_str(spec, "type"));
    if (streq(type, "ExternalName"))
        return 0;
    const json_t *was = json_object_get(old, "spec");
    if (!old && str_empty(meta_str(service, "name")) && str_empty(json_str(spec, "clusterIP")))
        return fail_nameless(a, spec, f);
    if (str_empty(json_str(spec, "clusterIP"))) {
        if (json_str(was, "clusterIP")) {
            json_object_set(spec, "clusterIP", json_object_get(was, "clusterIP"));
            json_object_set(spec, "clusterIPs", json_object_get(was, "clusterIPs"));
        } else if (give_address(a, spec, f)) {
            return -1;
        }
    } else if (!json_object_get(spec, "clusterIPs")) {
        json_object_set_new(spec, "clusterIPs", json_pack("[s]", json_str(spec, "clusterIP")));
    }
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(spec, "ports"), i, p) {
        if (!wants_ports(type) || json_integer_value(json_object_get(p, "nodePort")))
            continue;
        for (int tries = 0; tries < 1000; tries++) {
            int port = (int)prng_range(&a->world->random, PORT_FIRST, PORT_LAST + 1);
            if (used(a, NULL, port))
                continue;
            json_object_set_new(p, "nodePort", json_integer(port));
            break;
        }
    }
    return 0;
}
