/* Which volume a claim gets. The tables are those of Kubernetes' own index_test.go; there is nobody
 * at work here, as the clock stands still. */
#include "sim/fleet/volume_match.h"

#include "storage_cluster.h"

/* "RWO ROX" and so on, as a JSON list. */
static char *modes_json(const char *modes) {
    static const char *const rows[][2] = {{"RWO", "ReadWriteOnce"},
                                          {"ROX", "ReadOnlyMany"},
                                          {"RWX", "ReadWriteMany"},
                                          {"RWP", "ReadWriteOncePod"}};
    struct str s = STR_INIT;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strstr(modes, rows[i][0]))
            str_addf(&s, "%s'%s'", s.len ? ", " : "", rows[i][1]);
    return str_take(&s);
}

static void add(struct cluster *c, const char *name, const char *size, const char *modes,
                const char *phase, const char *labels, const char *more) {
    _cleanup_free_ char *list = modes_json(modes);
    make(c, c->f->pvs, NULL,
         "{'metadata': {'name': '%s', 'labels': {%s}}, 'spec': {'capacity': {'storage': '%s'}, "
         "'accessModes': [%s], 'csi': {'driver': 'd', 'volumeHandle': 'h'}%s}}",
         name, labels, size, list, more);
    json_t *obj = json_of(c->f->pvs, NULL, name);
    json_object_set_new(json_object_get(obj, "status"), "phase", json_string(phase));
    assert_true(fleet_update(c->f, c->f->pvs, "status", obj, NULL));
}

/* What a claim would get, or "". */
static const char *match(struct cluster *c, const char *size, const char *modes, const char *more,
                         bool waits) {
    _cleanup_free_ char *list = modes_json(modes);
    make(c, c->f->pvcs, "default",
         "{'metadata': {'name': 'claim', 'namespace': 'default', 'finalizers': []}, 'spec': "
         "{'accessModes': [%s], 'resources': {'requests': {'storage': '%s'}}%s}}",
         list, size, more);
    const struct record *r =
        volume_match(c->f, shelf_get(c->f->pvcs->shelf, "default", "claim"), waits);
    const char *name = r ? r->obj->meta.name : "";
    delete_now(c, c->f->pvcs, "default", "claim", ABSENT64);
    finalizer_remove(c->f, c->f->pvcs, shelf_get(c->f->pvcs->shelf, "default", "claim"),
                     "kubernetes.io/pvc-protection");
    assert_null(claim_of(c, "claim"));
    return name;
}

#define BOUND(name)                                                                                \
    ", 'claimRef': {'namespace': 'default', 'name': '" name                                        \
    "', 'uid': '00000000-0000-4000-8000-000000000000'}"
#define EXISTS ", 'selector': {'matchLabels': {'should-exist': 'true'}}"

/* TestMatchVolume, with its createTestVolumes(). Sizes past what we tell apart are left out. */
static void test_match(void **state) {
    struct cluster *c = *state;
    add(c, "gce-pd-10", "10G", "RWO ROX", "Available", "", "");
    add(c, "gce-pd-20", "20G", "RWO ROX", "Bound", "", BOUND("claim02"));
    add(c, "nfs-5", "5G", "RWO ROX RWX", "Available", "", "");
    add(c, "gce-pd-1", "1G", "RWO ROX", "Bound", "", BOUND("claim01"));
    add(c, "nfs-10", "10G", "RWO ROX RWX", "Available", "", "");
    add(c, "gce-pd-5", "5G", "RWO ROX", "Available", "", "");
    add(c, "nfs-1", "1G", "RWO ROX RWX", "Available", "", "");
    add(c, "gce-pd-2", "20000G", "RWO", "Available", "'should-exist': 'true'", "");
    add(c, "gce-pd-silver1", "10000G", "RWO", "Available", "'should-exist': 'true'",
        ", 'storageClassName': 'silver'");
    add(c, "gce-pd-silver2", "100G", "RWO", "Available", "", ", 'storageClassName': 'silver'");
    add(c, "gce-pd-gold", "50G", "RWO", "Available", "", ", 'storageClassName': 'gold'");
    add(c, "gce-pd-vac-silver1", "50G", "RWO ROX", "Available", "",
        ", 'volumeAttributesClassName': 'silver'");
    static const struct {
        const char *size, *modes, *more, *wanted;
    } rows[] = {
        {"8G", "ROX RWO", "", "gce-pd-10"},
        {"5G", "ROX RWO RWX", "", "nfs-5"},
        {"1G", "ROX RWO", "", "gce-pd-5"}, /* not the one of 1G: it is bound */
        {"999G", "ROX RWO", "", ""},
        {"999G", "ROX RWO", ", 'selector': {'matchLabels': {'should-not-exist': 'true'}}", ""},
        {"20000G", "ROX RWO", EXISTS, ""},
        {"20000G", "RWO", EXISTS, "gce-pd-2"},
        {"8G", "ROX RWO", ", 'volumeAttributesClassName': ''", "gce-pd-10"},
        {"1G", "ROX RWO", ", 'volumeAttributesClassName': 'silver'", "gce-pd-vac-silver1"},
        {"1G", "ROX RWO", ", 'volumeAttributesClassName': 'none'", ""},
        {"1G", "RWO", EXISTS ", 'storageClassName': 'silver'", "gce-pd-silver1"},
        {"1G", "RWO", ", 'storageClassName': 'silver'", "gce-pd-silver2"},
        {"1G", "RWO", ", 'storageClassName': 'none'", ""},
        {"1G", "RWX", "", "nfs-1"},
        {"1G", "RWP", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_string_equal(match(c, rows[i].size, rows[i].modes, rows[i].more, false),
                            rows[i].wanted);
        /* The scheduler chooses among these. */
        assert_string_equal(match(c, rows[i].size, rows[i].modes, rows[i].more, true), "");
    }
}

/* TestFindingVolumeWithDifferentAccessModes: the fewest modes that do. */
static void test_modes(void **state) {
    struct cluster *c = *state;
    add(c, "gce", "10G", "RWO ROX", "Available", "", "");
    add(c, "ebs", "10G", "RWO", "Available", "", "");
    add(c, "nfs", "10G", "RWO ROX RWX", "Available", "", "");
    assert_string_equal(match(c, "1G", "RWO", "", false), "ebs");
    assert_string_equal(match(c, "1G", "RWO ROX", "", false), "gce");
    assert_string_equal(match(c, "1G", "RWX", "", false), "nfs");
    assert_string_equal(match(c, "1G", "RWO ROX RWX", "", false), "nfs");
}

/* TestFindingPreboundVolumes. */
static void test_reserved(void **state) {
    struct cluster *c = *state;
    add(c, "gce001", "1Gi", "RWO", "Available", "", "");
    add(c, "gce002", "10Gi", "RWO", "Available", "", "");
    add(c, "gce003", "1Gi", "RWO", "Available", "",
        ", 'claimRef': {'namespace': 'other', 'name': 'claim'}");
    assert_string_equal(match(c, "1Gi", "RWO", "", false), "gce001");
    assert_string_equal(match(c, "1Gi", "RWO", "", true), "");
    add(c, "large", "5Gi", "RWO", "Available", "",
        ", 'claimRef': {'namespace': 'default', 'name': 'claim'}");
    assert_string_equal(match(c, "1Gi", "RWO", "", false), "large");
    assert_string_equal(match(c, "1Gi", "RWO", "", true), "large");
    /* Reserved, but it does not do. */
    assert_string_equal(match(c, "9Gi", "RWO", "", false), "gce002");
    assert_string_equal(match(c, "1Gi", "RWO", ", 'volumeMode': 'Block'", false), "");
    /* Reserved for one that had the name before. */
    json_t *obj = json_of(c->f->pvs, NULL, "large");
    json_object_set_new(json_object_get(json_object_get(obj, "spec"), "claimRef"), "uid",
                        json_string("00000000-0000-4000-8000-000000000000"));
    assert_true(fleet_update(c->f, c->f->pvs, NULL, obj, NULL));
    assert_string_equal(match(c, "1Gi", "RWO", "", false), "gce001");
}

/* Of equal ones the first by name; none that is going or not there yet. */
static void test_states(void **state) {
    struct cluster *c = *state;
    add(c, "b", "1Gi", "RWO", "Available", "", "");
    add(c, "a", "1Gi", "RWO", "Pending", "", "");
    add(c, "c", "1Gi", "RWO", "Available", "", "");
    assert_string_equal(match(c, "1Gi", "RWO", "", false), "b");
    delete_now(c, c->f->pvs, NULL, "b", ABSENT64);
    assert_true(volume_of(c, "b")->meta.deleted);
    assert_string_equal(match(c, "1Gi", "RWO", "", false), "c");
}

/* In the order of checkVolumeSatisfyClaim(): each volume has what the ones before lack. */
static void test_mismatch(void **state) {
    struct cluster *c = *state;
    add(c, "going", "1Mi", "ROX", "Available", "", ", 'storageClassName': 'x'");
    delete_now(c, c->f->pvs, NULL, "going", ABSENT64);
    add(c, "small", "1Mi", "ROX", "Available", "", ", 'storageClassName': 'x'");
    add(c, "class", "1Gi", "ROX", "Available", "",
        ", 'storageClassName': 'x', 'volumeAttributesClassName': 'y'");
    add(c, "attributes", "1Gi", "ROX", "Available", "",
        ", 'volumeMode': 'Block', 'volumeAttributesClassName': 'y'");
    add(c, "mode", "1Gi", "ROX", "Available", "", ", 'volumeMode': 'Block'");
    add(c, "access", "1Gi", "ROX", "Available", "", "");
    add(c, "good", "1Gi", "ROX RWO", "Available", "", "");
    make_claim(c, "a", "", "");
    static const char *const rows[][2] = {
        {"going", "the volume is marked for deletion \"going\""},
        {"small", "requested PV is too small"},
        {"class", "storageClassName does not match"},
        {"attributes", "volumeAttributesClassName does not match"},
        {"mode", "incompatible volumeMode"},
        {"access", "incompatible accessMode"},
        {"good", ""},
    };
    const struct record *claim = shelf_get(c->f->pvcs->shelf, "default", "a");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str buf = STR_INIT;
        const struct record *volume = shelf_get(c->f->pvs->shelf, NULL, rows[i][0]);
        assert_string_equal(strna(volume_mismatch(volume, claim, &buf)), rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_match, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_modes, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_reserved, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_states, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_mismatch, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
