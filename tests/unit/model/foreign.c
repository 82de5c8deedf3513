/* Tests of src/model/foreign.c: objects in the shapes of the projects' own types, and what every
 * table must keep to. */
#include "model/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/codec.h"

struct shape {
    struct pool *pool;
    struct codec codec;
    const struct kind *kind;
    void *obj;
};

static int decode(struct shape *s, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    _cleanup_err_ struct err err = ERR_INIT;
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    s->pool = pool_new(type_drop);
    s->kind = kind;
    s->obj = object_new(kind);
    memset(s->obj, 0, kind->type->size);
    codec_init(&s->codec, s->pool);
    return codec_json(&s->codec, kind->type, view_of(text), s->obj, &err);
}

static void done(struct shape *s) {
    object_free(s->kind, s->pool, s->obj);
    codec_done(&s->codec);
    assert_int_equal(pool_stats(s->pool).entries, 0);
    pool_free(s->pool);
}

/* The fields below that no table names (managedFields, maps of objects, sizes as strings) must be
 * skipped whatever they hold. */

static void longhorn(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(
        decode(&s, &kind_longhorn_volume,
               "{'apiVersion':'longhorn.io/v1beta2','kind':'Volume','metadata':{'name':'pvc-1',"
               "'namespace':'longhorn-system','labels':{'longhornvolume':'pvc-1'},'managedFields':"
               "[{'manager':'x'}]},'spec':{'size':'2147483648','frontend':'blockdev','Standby':"
               "false,'numberOfReplicas':3,'dataLocality':'disabled','accessMode':'rwx',"
               "'dataEngine':'v1','nodeID':'w1','diskSelector':[],'dataLayout':{'type':'sharded',"
               "'mode':'erasureCoding','dataChunks':4}},'status':{'actualSize':1024,'cloneStatus':"
               "{'state':''},'conditions':[{'type':'Scheduled','status':'True',"
               "'lastProbeTime':'','lastTransitionTime':'2026-11-15T07:00:00Z'}],"
               "'currentNodeID':'w1','state':'attached','robustness':'degraded',"
               "'kubernetesStatus':{'workloadsStatus':[{'podName':'p'}]}}}"),
        0);
    const struct longhorn_volume *v = s.obj;
    assert_string_equal(v->meta.name, "pvc-1");
    assert_string_equal(v->meta.ns, "longhorn-system");
    assert_int_equal(v->replicas, 3);
    assert_string_equal(v->locality, "disabled");
    assert_string_equal(v->access, "rwx");
    assert_string_equal(v->engine, "v1");
    assert_string_equal(v->layout, "sharded");
    assert_string_equal(v->state, "attached");
    assert_string_equal(v->robustness, "degraded");
    assert_string_equal(v->node, "w1");
    done(&s);

    assert_int_equal(
        decode(&s, &kind_longhorn_replica,
               "{'metadata':{'name':'pvc-1-r-2'},'spec':{'volumeName':'pvc-1','volumeSize':'1',"
               "'nodeID':'w2','dataEngine':'v1','desireState':'running','active':true,'diskID':'d',"
               "'healthyAt':'2026-11-15T07:00:00Z','failedAt':'','evictionRequested':true,"
               "'rebuildRetryCount':0},'status':{'currentState':'running','instanceManagerName':"
               "'im','port':10000,'conditions':null}}"),
        0);
    const struct longhorn_replica *r = s.obj;
    assert_string_equal(r->volume, "pvc-1");
    assert_string_equal(r->node, "w2");
    assert_string_equal(r->healthy_at, "2026-11-15T07:00:00Z");
    assert_null(r->failed_at);
    assert_string_equal(r->desired, "running");
    assert_string_equal(r->state, "running");
    assert_true(r->evicting);
    done(&s);

    assert_int_equal(decode(&s, &kind_longhorn_engine,
                            "{'metadata':{'name':'e'},'spec':{'volumeName':'pvc-1','nodeID':'w1',"
                            "'replicaAddressMap':{'a':'b'}},'status':{'currentState':'running',"
                            "'snapshots':{'x':{'children':{'y':true}}},'currentSize':'12'}}"),
                     0);
    assert_string_equal(((struct longhorn_engine *)s.obj)->node, "w1");
    assert_string_equal(((struct longhorn_engine *)s.obj)->state, "running");
    done(&s);

    assert_int_equal(
        decode(&s, &kind_longhorn_manager,
               "{'metadata':{'name':'instance-manager-1'},'spec':{'nodeID':'w1','type':'aio',"
               "'dataEngine':'v1','dataEngineSpec':{'v2':{'cpuMask':''}}},'status':{'currentState':"
               "'running','instanceEngines':{'e':{'spec':{'name':'e'}}}}}"),
        0);
    assert_string_equal(((struct longhorn_manager *)s.obj)->type, "aio");
    assert_string_equal(((struct longhorn_manager *)s.obj)->state, "running");
    done(&s);

    assert_int_equal(
        decode(&s, &kind_longhorn_node,
               "{'metadata':{'name':'w1'},'spec':{'disks':{'default':{'path':'/x'}}},'status':{"
               "'autoEvicting':true,'diskStatus':{'default':{'storageMaximum':1}},'conditions':[{"
               "'type':'Ready','status':'False','reason':'ManagerPodDown','lastTransitionTime':''}]"
               "}}"),
        0);
    const struct longhorn_node *n = s.obj;
    assert_true(n->auto_evicting);
    assert_string_equal(foreign_condition(n->conditions, "Ready")->reason, "ManagerPodDown");
    assert_null(foreign_condition(n->conditions, "Schedulable"));
    assert_null(foreign_condition(NULL, "Ready"));
    done(&s);

    assert_int_equal(decode(&s, &kind_longhorn_setting,
                            "{'metadata':{'name':'node-drain-policy'},'value':'always-allow',"
                            "'status':{'applied':true}}"),
                     0);
    assert_string_equal(((struct longhorn_setting *)s.obj)->value, "always-allow");
    done(&s);
}

static void rook(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(
        decode(&s, &kind_ceph_cluster,
               "{'metadata':{'name':'rook-ceph','namespace':'rook-ceph'},'spec':{'mon':{'count':3,"
               "'allowMultiplePerNode':false},'disruptionManagement':{'managePodBudgets':true},"
               "'external':{'enable':true},'storage':{'useAllNodes':true}},'status':{'phase':"
               "'Ready','message':'Cluster created','ceph':{'health':'HEALTH_WARN','details':{"
               "'OSD_DOWN':{'severity':'HEALTH_WARN','message':'1 osds down'},'NEW_CODE':{"
               "'severity':'HEALTH_WARN','message':'?'}},'lastChecked':'2026-11-15T07:59:00Z',"
               "'capacity':{'bytesTotal':1},'versions':{'mon':{'ceph 19':3}}}}}"),
        0);
    const struct ceph_cluster *c = s.obj;
    assert_int_equal(c->mons, 3);
    assert_true(c->external && c->manage_budgets);
    assert_string_equal(c->health, "HEALTH_WARN");
    assert_string_equal(c->last_checked, "2026-11-15T07:59:00Z");
    /* As they came: also those of a Ceph that is newer than this table. */
    assert_string_equal(c->details,
                        "{\"OSD_DOWN\":{\"severity\":\"HEALTH_WARN\",\"message\":\"1 osds down\"},"
                        "\"NEW_CODE\":{\"severity\":\"HEALTH_WARN\",\"message\":\"?\"}}");
    done(&s);
    assert_int_equal(decode(&s, &kind_ceph_block_pool,
                            "{'metadata':{'name':'p'},'spec':{'failureDomain':'rack','replicated':{"
                            "'size':3}}}"),
                     0);
    assert_string_equal(((struct ceph_pools *)s.obj)->block.failure_domain, "rack");
    done(&s);
    assert_int_equal(decode(&s, &kind_ceph_filesystem,
                            "{'spec':{'metadataPool':{'failureDomain':'zone'},'dataPools':[{'name':"
                            "'a','failureDomain':'rack'},{'failureDomain':'host'}]}}"),
                     0);
    const struct ceph_pools *p = s.obj;
    assert_string_equal(p->metadata.failure_domain, "zone");
    assert_int_equal(list_len(p->list), 2);
    assert_string_equal(p->list[1].failure_domain, "host");
    done(&s);
    assert_int_equal(decode(&s, &kind_ceph_object_store,
                            "{'spec':{'metadataPool':{'failureDomain':'zone'},'dataPool':{"
                            "'failureDomain':'rack'}}}"),
                     0);
    assert_string_equal(((struct ceph_pools *)s.obj)->data.failure_domain, "rack");
    done(&s);
    assert_int_equal(decode(&s, &kind_rook_state,
                            "{'metadata':{'name':'rook-ceph-pdbstatemap'},'data':{"
                            "'draining-failure-domain':'a','set-no-out':'true','x':'y'}}"),
                     0);
    const struct rook_state *state_map = s.obj;
    assert_int_equal(list_len(state_map->data), 2);
    assert_string_equal(map_get(state_map->data, "draining-failure-domain"), "a");
    done(&s);
}

/* Of all DaemonSets, which are many and large, next to nothing. */
static void locks_of_kured(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(
        decode(
            &s, &kind_kured_lock,
            "{'metadata':{'name':'kured','namespace':'x','uid':'u','labels':{'a':"
            "'b'},'resourceVersion':'7','annotations':{'weave.works/kured-node-"
            "lock':'{}','k8s.io/"
            "initial-events-end':'true','deprecated.daemonset.template.generation':'1'}},'spec':{"
            "'template':{'spec':{'containers':[{'name':'c'}]}}}}"),
        0);
    const struct kured_lock *lock = s.obj;
    assert_string_equal(lock->meta.name, "kured");
    assert_string_equal(lock->meta.ns, "x");
    assert_string_equal(lock->meta.version, "7");
    assert_null(lock->meta.labels);
    assert_null(lock->meta.uid);
    assert_int_equal(list_len(lock->meta.annotations), 2);
    assert_string_equal(map_get(lock->meta.annotations, KURED_LOCK), "{}");
    assert_true(map_has(lock->meta.annotations, "k8s.io/initial-events-end")); /* of a bookmark */
    done(&s);
}

static void virtual_machines(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(
        decode(&s, &kind_vmi,
               "{'metadata':{'name':'vm','namespace':'x'},'spec':{'evictionStrategy':'LiveMigrate',"
               "'domain':{'devices':{}}},'status':{'nodeName':'w1','phase':'Running',"
               "'evacuationNodeName':'w1','conditions':[{'type':'LiveMigratable','status':'False',"
               "'lastProbeTime':null,'lastTransitionTime':null,'reason':'DisksNotLiveMigratable',"
               "'message':'no'}],'migrationState':{'sourceNode':'w1','targetNode':'w2','failed':"
               "true,'completed':true,'failureReason':'slow','startTimestamp':"
               "'2026-11-15T07:00:00Z'},'activePods':{'uid':'w1'},'runtimeUser':107}}"),
        0);
    const struct vmi *v = s.obj;
    assert_string_equal(v->strategy, "LiveMigrate");
    assert_string_equal(v->node_name, "w1");
    assert_string_equal(v->evacuation_node, "w1");
    assert_string_equal(v->phase, "Running");
    assert_string_equal(foreign_condition(v->conditions, "LiveMigratable")->reason,
                        "DisksNotLiveMigratable");
    assert_string_equal(v->migration->target_node, "w2");
    assert_string_equal(v->migration->failure, "slow");
    assert_true(v->migration->failed && v->migration->completed);
    done(&s);
    assert_int_equal(decode(&s, &kind_kubevirt,
                            "{'spec':{'configuration':{'evictionStrategy':'LiveMigrate',"
                            "'developerConfiguration':{'featureGates':['x']}}},'status':{'phase':"
                            "'Deployed'}}"),
                     0);
    assert_string_equal(((struct kubevirt *)s.obj)->strategy, "LiveMigrate");
    assert_string_equal(((struct kubevirt *)s.obj)->phase, "Deployed");
    done(&s);
}

static void databases(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(
        decode(&s, &kind_cnpg_cluster,
               "{'metadata':{'name':'db'},'spec':{'instances':3,'enablePDB':true,"
               "'nodeMaintenanceWindow':{'inProgress':true,'reusePVC':true}},'status':{'instances':"
               "3,'readyInstances':2,'currentPrimary':'db-1','targetPrimary':'db-2','phase':"
               "'Switchover in progress','phaseReason':'why','instancesStatus':{'healthy':['db-1']"
               "},'timelineID':4}}"),
        0);
    const struct cnpg_cluster *c = s.obj;
    assert_int_equal(c->instances, 3);
    assert_int_equal(c->ready, 2);
    assert_true(c->maintenance);
    assert_string_equal(c->primary, "db-1");
    assert_string_equal(c->target_primary, "db-2");
    assert_string_equal(c->phase, "Switchover in progress");
    assert_string_equal(c->phase_reason, "why");
    done(&s);
    assert_int_equal(decode(&s, &kind_postgresql,
                            "{'metadata':{'name':'acid-db'},'spec':{'teamId':'acid',"
                            "'numberOfInstances':2,'volume':{'size':'1Gi'}},'status':{"
                            "'PostgresClusterStatus':'Running'}}"),
                     0);
    assert_int_equal(((struct postgresql *)s.obj)->instances, 2);
    assert_string_equal(((struct postgresql *)s.obj)->status, "Running");
    done(&s);
    assert_int_equal(
        decode(&s, &kind_etcd_cluster,
               "{'spec':{'size':3,'version':'v3.5.21'},'status':{'currentReplicas':3,'memberCount':"
               "3,'leaderID':'a','members':[{'name':'e-0','id':'a','isHealthy':true,'isLeader':true"
               "},{'id':'b','isHealthy':false,'isLearner':true}]}}"),
        0);
    const struct etcd_cluster *e = s.obj;
    assert_int_equal(e->size, 3);
    assert_int_equal(list_len(e->peers), 2);
    assert_string_equal(e->peers[0].name, "e-0");
    assert_true(e->peers[0].healthy && !e->peers[0].learner);
    assert_null(e->peers[1].name);
    assert_true(!e->peers[1].healthy && e->peers[1].learner);
    done(&s);
    assert_int_equal(decode(&s, &kind_etcd_member,
                            "{'metadata':{'name':'e-0'},'spec':{'clusterName':'e','ordinal':0,"
                            "'version':'v3.5.21'},'status':{'phase':'Replacing','isHealthy':true,"
                            "'recreateCount':1}}"),
                     0);
    const struct etcd_member *m = s.obj;
    assert_string_equal(m->cluster, "e");
    assert_string_equal(m->phase, "Replacing");
    assert_true(m->healthy && !m->learner);
    done(&s);
}

/* An object that is not filled in must not look healthy; numbers that are not there are absent, not
 * zero. */
static void empty_objects(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "{'metadata':{},'spec':{},'status':{}}",
                                        "{'metadata':null,'spec':null,'status':null}"};
    for (size_t i = 0; foreign_kinds[i]; i++)
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            struct shape s;
            assert_int_equal(decode(&s, foreign_kinds[i], texts[k]), 0);
            if (s.kind == &kind_longhorn_volume)
                assert_int_equal(((struct longhorn_volume *)s.obj)->replicas, ABSENT32);
            if (s.kind == &kind_cnpg_cluster)
                assert_int_equal(((struct cnpg_cluster *)s.obj)->instances, ABSENT32);
            if (s.kind == &kind_etcd_cluster)
                assert_int_equal(((struct etcd_cluster *)s.obj)->size, ABSENT32);
            if (s.kind == &kind_ceph_cluster)
                assert_int_equal(((struct ceph_cluster *)s.obj)->mons, ABSENT32);
            done(&s);
        }
}

/* A field of the wrong type is an error, not a default. */
static void wrong_types(void **state) {
    (void)state;
    static const struct {
        const struct kind *kind;
        const char *json;
    } bad[] = {
        {&kind_longhorn_volume, "{'spec':{'numberOfReplicas':'3'}}"},
        {&kind_longhorn_volume, "{'spec':{'numberOfReplicas':99999999999}}"},
        {&kind_longhorn_volume, "{'status':{'state':7}}"},
        {&kind_longhorn_replica, "{'spec':{'healthyAt':{'x':1}}}"},
        {&kind_ceph_cluster, "{'status':{'ceph':{'details':['OSD_DOWN']}}}"},
        {&kind_ceph_cluster, "{'status':'HEALTH_OK'}"},
        {&kind_rook_state, "{'data':{'draining-failure-domain':[]}}"},
        {&kind_vmi, "{'status':{'conditions':{'LiveMigratable':true}}}"},
        {&kind_postgresql, "{'status':'Running'}"},
        {&kind_etcd_cluster, "{'status':{'members':[{'isHealthy':'true'}]}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct shape s;
        if (!decode(&s, bad[i].kind, bad[i].json))
            fail_msg("%s was taken", bad[i].json);
        done(&s);
    }
}

static void check_keys(const struct type *t, int depth) {
    assert_true(depth < 10);
    assert_in_range(t->n_fields, 1, 64);
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        assert_non_null(f->json);
        assert_int_equal(f->type != NULL,
                         f->kind == FIELD_MSG || f->kind == FIELD_PTR || f->kind == FIELD_LIST);
        assert_true(f->off < t->size);
        for (uint16_t k = 0; k < i; k++)
            assert_string_not_equal(f->json, t->fields[k].json);
        if (i)
            assert_true(t->fields[i - 1].pb < f->pb);
        if (f->type)
            check_keys(f->type, depth + 1);
    }
}

static void tables(void **state) {
    (void)state;
    for (size_t i = 0; foreign_kinds[i]; i++) {
        const struct kind *k = foreign_kinds[i];
        check_keys(k->type, 0);
        assert_true(k->type->size >= sizeof(struct meta));
        assert_true(k->namespaced);
        for (size_t j = 0; j < i; j++)
            assert_false(streq(k->group, foreign_kinds[j]->group) &&
                         streq(k->resource, foreign_kinds[j]->resource));
        /* Kubernetes' own kinds are found by name: none of these may take their place. */
        assert_true(kind_find(k->name) != k);
    }
}

/* A copy and its original are freed one after the other. */
static void copies(void **state) {
    (void)state;
    struct shape s;
    assert_int_equal(decode(&s, &kind_ceph_cluster,
                            "{'metadata':{'name':'c'},'status':{'ceph':{'health':'HEALTH_ERR',"
                            "'details':{'PG_DEGRADED':{'message':'m'}}}}}"),
                     0);
    struct object *copy = object_copy(s.kind, s.obj);
    object_free(s.kind, s.pool, s.obj);
    s.obj = copy;
    assert_string_equal(((struct ceph_cluster *)copy)->details,
                        "{\"PG_DEGRADED\":{\"message\":\"m\"}}");
    done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longhorn),       cmocka_unit_test(rook),
        cmocka_unit_test(locks_of_kured), cmocka_unit_test(virtual_machines),
        cmocka_unit_test(databases),      cmocka_unit_test(empty_objects),
        cmocka_unit_test(wrong_types),    cmocka_unit_test(tables),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests_name("model/foreign", tests, NULL, NULL);
}
