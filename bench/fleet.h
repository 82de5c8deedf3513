/* A large cluster made by hand, for measurements without a server: so many nodes in three zones,
 * thirty pods on each, a budget for every thirty pods which lie on as many nodes. */
#ifndef BENCH_FLEET_H
#define BENCH_FLEET_H

#include "support/drain_world.h"

enum { FLEET_PODS = 30, FLEET_NAMESPACES = 50 };

/* The application of a node's pod, of so many: its pods are in namespace "ns%u" of the
 * application's number modulo FLEET_NAMESPACES, have the label app=a%u and the budget b%u. */
static inline unsigned fleet_app(unsigned nodes, unsigned node, unsigned pod) {
    return (node * 7 + pod * 13) % nodes;
}

static inline void fleet_build(struct drain_world *w, unsigned nodes) {
    unsigned long version = 0;
    for (unsigned i = 0; i < nodes; i++) {
        store_put(
            w->c.nodes,
            dw_make(
                w, &kind_node,
                "{'metadata':{'name':'node-%u','uid':'n%u','resourceVersion':'%lu','labels':"
                "{'topology.kubernetes.io/zone':'z%u','kubernetes.io/"
                "hostname':'node-%u'}},'status':"
                "{'allocatable':{'cpu':'32','memory':'128Gi','pods':'110'},'conditions':[{'type':"
                "'Ready','status':'True'}]}}",
                i, i, ++version, i % 3, i));
        store_put(
            w->c.budgets,
            dw_make(
                w, &kind_pdb,
                "{'metadata':{'namespace':'ns%u','name':'b%u','uid':'b%u','resourceVersion':'%lu'},"
                "'spec':{'maxUnavailable':3,'selector':{'matchLabels':{'app':'a%u'}}},'status':"
                "{'disruptionsAllowed':3,'currentHealthy':30,'desiredHealthy':27,'expectedPods':30}"
                "}",
                i % FLEET_NAMESPACES, i, i, ++version, i));
        for (unsigned k = 0; k < FLEET_PODS; k++) {
            unsigned app = fleet_app(nodes, i, k);
            store_put(
                w->c.pods,
                dw_make(w, &kind_pod,
                        "{'metadata':{'namespace':'ns%u','name':'pod-%u-%u','uid':'u-%u-%u',"
                        "'resourceVersion':'%lu','labels':{'app':'a%u'},'creationTimestamp':"
                        "'2026-01-01T00:00:00Z','ownerReferences':[{'apiVersion':'apps/v1','kind':"
                        "'ReplicaSet','name':'rs%u','uid':'rs%u','controller':true}]},'spec':{'"
                        "nodeName':"
                        "'node-%u','terminationGracePeriodSeconds':30,'containers':[{'name':'c','"
                        "image':"
                        "'app','resources':{'requests':{'cpu':'500m','memory':'1Gi'}}}]},'status':"
                        "{'phase':'Running','conditions':[{'type':'Ready','status':'True',"
                        "'lastTransitionTime':'2026-01-01T00:00:05Z'}]}}",
                        app % FLEET_NAMESPACES, i, k, i, k, ++version, app, app, app, i));
        }
    }
    w->c.all_pods = w->c.owners_watched = true;
}

#endif
