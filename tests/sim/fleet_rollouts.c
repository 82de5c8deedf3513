/* What people do with rollouts, and the stop of everything. */
#include <stdio.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "fleet_run.h"

#define ROLLOUTS "/apis/slipway.dev/v1alpha1/rollouts"
#define STOP     "slipway-pause"

/* Of all nodes, of a pool, or by their names, of which one may not be there. */
static char *nodes_of(const struct fleet_run *r, unsigned pick) {
    switch (pick % 4) {
    case 0:
        return xasprintf("'nodeSelector':{'matchLabels':{'pool':'%s'}}", pick & 4 ? "a" : "b");
    case 1:
        return xasprintf("'nodes':['w[1-%u]']", 2 + pick / 4 % r->plan.nodes);
    default:
        return xstrdup("'nodeSelector':{}");
    }
}

static void make(struct fleet_run *r, const struct fleet_event *e) {
    static const char *const what[] = {
        "'operation':'Reboot','executor':{'sim':{}}",
        "'operation':'Reboot','executor':{'sim':{}}",
        "'operation':'Reboot','executor':{'exec':{'command':['false']}}",
        "'operation':'Shutdown','executor':{'sim':{}}",
        "'operation':'Reboot','executor':{'fleetlock':{}}",
        "'operation':'Drain'",
    };
    unsigned pick = e->pick / 7;
    _cleanup_free_ char *nodes = nodes_of(r, e->pick);
    const char *policy = r->plan.policies == 2 && pick % 9 == 0 ? "'policy':'a'," : "";
    (void)fleet_request(r, "POST", ROLLOUTS,
                        "{'apiVersion':'slipway.dev/v1alpha1','kind':'Rollout','metadata':{'name':"
                        "'r%u'},'spec':{%s,%s,%s'maxFailed':%u%s}}",
                        ++r->n_rollouts, nodes, what[pick / 9 % ARRAY_LEN(what)], policy,
                        pick / 54 % 3, pick / 162 % 3 ? "" : ",'soak':'40s'");
}

/* One that is there, and is not being deleted. */
static bool some_rollout(struct fleet_run *r, unsigned which, char out[static 32]) {
    _cleanup_json_ json_t *list = fleet_get(r, ROLLOUTS);
    const json_t *items = json_object_get(list, "items");
    if (!json_array_size(items))
        return false;
    const json_t *one = json_array_get(items, which % json_array_size(items)),
                 *meta = json_object_get(one, "metadata");
    (void)snprintf(out, 32, "%s", json_str(meta, "name"));
    return !json_str(meta, "deletionTimestamp");
}

void fleet_rollouts_act(struct fleet_run *r, const struct fleet_event *e) {
    char name[32];
    if (e->act == FLEET_ROLLOUT) {
        make(r, e);
        return;
    }
    if (e->act == FLEET_STOP) {
        if (fleet_request(r, "POST", MAPS,
                          "{'metadata':{'name':'" STOP "','labels':{'slipway.dev/slots':''}},"
                          "'data':{'pause':'%s'}}",
                          e->pick & 1 ? "{\\'v\\':1,\\'by\\':\\'people\\'}" : "") == 201)
            fleet_end_later(r, e, STOP);
        return;
    }
    if (!some_rollout(r, e->pick, name))
        return;
    _cleanup_free_ char *path = xasprintf(ROLLOUTS "/%s", name);
    if (e->act == FLEET_END_ROLLOUT)
        (void)fleet_request(r, "DELETE", path, "%s", "");
    else if (fleet_request(r, "PATCH", path, "{'spec':{'paused':true}}") == 200)
        fleet_end_later(r, e, name);
}

void fleet_rollouts_end(struct fleet_run *r, const struct fleet_event *e, const char *name) {
    _cleanup_free_ char *path = xasprintf("%s/%s", e->act == FLEET_STOP ? MAPS : ROLLOUTS, name);
    if (e->act == FLEET_STOP)
        (void)fleet_request(r, "DELETE", path, "%s", "");
    else
        (void)fleet_request(r, "PATCH", path, "{'spec':{'paused':false}}");
}

bool fleet_rollout_give_up(struct fleet_run *r, const json_t *maintenance) {
    const json_t *owners =
        json_object_get(json_object_get(maintenance, "metadata"), "ownerReferences");
    const char *name = json_str(json_array_get(owners, 0), "name");
    if (!name)
        return false;
    _cleanup_free_ char *path = xasprintf(ROLLOUTS "/%s", name);
    return fleet_request(r, "DELETE", path, "%s", "") == 200;
}
