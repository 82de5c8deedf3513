/* Volumes, claims, classes and attachments, as Kubernetes' printers show them. */
#include "table_expect.h"

static void test_columns(void **state) {
    (void)state;
    expect_columns("", "PersistentVolume",
                   "Name:string:name:0|Capacity:string::0|Access Modes:string::0|"
                   "Reclaim Policy:string::0|Status:string::0|Claim:string::0|"
                   "StorageClass:string::0|VolumeAttributesClass:string::0|Reason:string::0|"
                   "Age:string::0|VolumeMode:string::1");
    expect_columns("", "PersistentVolumeClaim",
                   "Name:string:name:0|Status:string::0|Volume:string::0|Capacity:string::0|"
                   "Access Modes:string::0|StorageClass:string::0|VolumeAttributesClass:string::0|"
                   "Age:string::0|VolumeMode:string::1");
    expect_columns("storage.k8s.io", "StorageClass",
                   "Name:string:name:0|Provisioner:string::0|ReclaimPolicy:string::0|"
                   "VolumeBindingMode:string::0|AllowVolumeExpansion:string::0|Age:string::0");
    expect_columns("storage.k8s.io", "VolumeAttachment",
                   "Name:string:name:0|Attacher:string:name:0|PV:string::0|Node:string::0|"
                   "Attached:boolean::0|Age:string::0");
    expect_columns("storage.k8s.io", "CSINode",
                   "Name:string:name:0|Drivers:integer::0|Age:string::0");
}

static void test_volume(void **state) {
    (void)state;
    static const struct {
        const char *meta, *spec, *status, *cells;
    } rows[] = {
        {"", "", "", "'0','','','','','','<unset>','','<unknown>','<unset>'"},
        {"",
         "'capacity':{'storage':'4Gi'},'accessModes':['ReadOnlyMany'],"
         "'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'ns','name':'c'},"
         "'storageClassName':'fast','volumeAttributesClassName':'gold','volumeMode':'Block'",
         "'phase':'Bound','reason':'why'",
         "'4Gi','ROX','Retain','Bound','ns/c','fast','gold','why','<unknown>','Block'"},
        {",'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}",
         "'storageClassName':'fast','claimRef':{}", "'phase':'Available'",
         "'0','','','Available','/','old','<unset>','','<unknown>','<unset>'"},
        {",'annotations':{'volume.beta.kubernetes.io/storage-class':''}",
         "'storageClassName':'fast'", "", "'0','','','','','','<unset>','','<unknown>','<unset>'"},
        {",'deletionTimestamp':'2026-11-15T08:00:00Z'",
         "'accessModes':['ReadWriteOncePod','ReadWriteMany','ReadWriteOnce','ReadWriteMany',"
         "'Other','ReadOnlyMany']",
         "'phase':'Released'",
         "'0','RWO,ROX,RWX,RWOP','','Terminating','','','<unset>','','<unknown>','<unset>'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'v'%s},'spec':{%s},'status':{%s}}", rows[i].meta,
                      rows[i].spec, rows[i].status);
        _cleanup_free_ char *cells = xasprintf("['v',%s]", rows[i].cells);
        expect_cells("", "PersistentVolume", object, cells);
    }
}

static void test_claim(void **state) {
    (void)state;
    static const struct {
        const char *meta, *spec, *status, *cells;
    } rows[] = {
        /* Before it is bound: neither size nor modes, whatever the status says. */
        {"", "'resources':{'requests':{'storage':'1Gi'}},'accessModes':['ReadWriteOnce']",
         "'phase':'Pending','capacity':{'storage':'4Gi'},'accessModes':['ReadWriteOnce']",
         "'Pending','','','','','<unset>','<unknown>','<unset>'"},
        {"",
         "'volumeName':'pv','storageClassName':'fast','volumeAttributesClassName':'',"
         "'volumeMode':'Filesystem'",
         "'phase':'Bound','capacity':{'storage':'4Gi'},'accessModes':['ReadWriteOnce']",
         "'Bound','pv','4Gi','RWO','fast','','<unknown>','Filesystem'"},
        {"", "'volumeName':'pv'", "'phase':'Lost'",
         "'Lost','pv','0','','','<unset>','<unknown>','<unset>'"},
        {",'deletionTimestamp':'2026-11-15T08:00:00Z',"
         "'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}",
         "", "'phase':'Bound'", "'Terminating','','','','old','<unset>','<unknown>','<unset>'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'c'%s},'spec':{%s},'status':{%s}}", rows[i].meta,
                      rows[i].spec, rows[i].status);
        _cleanup_free_ char *cells = xasprintf("['c',%s]", rows[i].cells);
        expect_cells("", "PersistentVolumeClaim", object, cells);
    }
}

static void test_class(void **state) {
    (void)state;
    static const struct {
        const char *object, *cells;
    } rows[] = {
        {"{'metadata':{'name':'s'},'provisioner':'p'}",
         "['s','p','Delete','Immediate',false,'<unknown>']"},
        {"{'metadata':{'name':'s','annotations':{'storageclass.kubernetes.io/is-default-class':"
         "'true'}},'provisioner':'p','reclaimPolicy':'Retain',"
         "'volumeBindingMode':'WaitForFirstConsumer','allowVolumeExpansion':true}",
         "['s (default)','p','Retain','WaitForFirstConsumer',true,'<unknown>']"},
        {"{'metadata':{'name':'s','annotations':{"
         "'storageclass.beta.kubernetes.io/is-default-class':'true'}}}",
         "['s (default)','','Delete','Immediate',false,'<unknown>']"},
        {"{'metadata':{'name':'s','annotations':{'storageclass.kubernetes.io/is-default-class':"
         "'True'}}}",
         "['s','','Delete','Immediate',false,'<unknown>']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cells("storage.k8s.io", "StorageClass", rows[i].object, rows[i].cells);
}

static void test_attachment_and_node(void **state) {
    (void)state;
    expect_cells("storage.k8s.io", "VolumeAttachment",
                 "{'metadata':{'name':'a'},'spec':{'attacher':'d','nodeName':'n','source':{"
                 "'persistentVolumeName':'pv'}},'status':{'attached':true}}",
                 "['a','d','pv','n',true,'<unknown>']");
    expect_cells("storage.k8s.io", "VolumeAttachment",
                 "{'metadata':{'name':'a'},'spec':{'attacher':'d','nodeName':'n','source':{"
                 "'inlineVolumeSpec':{}}}}",
                 "['a','d','','n',false,'<unknown>']");
    expect_cells("storage.k8s.io", "CSINode", "{'spec':{'drivers':[{},{}]}}", "['',2,'<unknown>']");
    expect_cells("storage.k8s.io", "CSINode", "{'spec':{'drivers':null}}", "['',0,'<unknown>']");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_volume),
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_attachment_and_node),
    };
    return cmocka_run_group_tests_name("table_storage", tests, NULL, NULL);
}
