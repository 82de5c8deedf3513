/* Nodes, events, services and the small kinds, as Kubernetes' printers show them. */
#include "table_expect.h"

static void test_columns(void **state) {
    (void)state;
    expect_columns("", "Node",
                   "Name:string:name:0|Status:string::0|Roles:string::0|Age:string::0|"
                   "Version:string::0|Internal-IP:string::1|External-IP:string::1|"
                   "OS-Image:string::1|Kernel-Version:string::1|Container-Runtime:string::1");
    expect_columns("", "Event",
                   "Last Seen:string::0|Type:string::0|Reason:string::0|Object:string::0|"
                   "Subobject:string::1|Source:string::1|Message:string::0|First Seen:string::1|"
                   "Count:string::1|Name:string:name:1");
    expect_columns("", "Service",
                   "Name:string:name:0|Type:string::0|Cluster-IP:string::0|External-IP:string::0|"
                   "Port(s):string::0|Age:string::0|Selector:string::1");
    expect_columns("", "Namespace", "Name:string:name:0|Status:string::0|Age:string::0");
    expect_columns("", "ConfigMap", "Name:string:name:0|Data:string::0|Age:string::0");
    expect_columns("", "Secret", "Name:string:name:0|Type:string::0|Data:string::0|Age:string::0");
    expect_columns("", "ServiceAccount", "Name:string:name:0|Age:string::0");
    expect_columns("coordination.k8s.io", "Lease",
                   "Name:string:name:0|Holder:string::0|Age:string::0");
    expect_columns("discovery.k8s.io", "EndpointSlice",
                   "Name:string:name:0|AddressType:string::0|Ports:string::0|Endpoints:string::0|"
                   "Age:string::0");
    expect_columns("scheduling.k8s.io", "PriorityClass",
                   "Name:string:name:0|Value:integer::0|Global-Default:boolean::0|Age:string::0|"
                   "PreemptionPolicy:string::0");
    expect_columns("apiextensions.k8s.io", "CustomResourceDefinition",
                   "Name:string:name:0|Created At:date::0");
}

static void test_node_status(void **state) {
    (void)state;
    static const struct {
        const char *object, *status;
    } rows[] = {
        {"{}", "Unknown"},
        {"{'spec':{'unschedulable':true}}", "Unknown,SchedulingDisabled"},
        {"{'status':{'conditions':[{'type':'Ready','status':'True'}]}}", "Ready"},
        {"{'status':{'conditions':[{'type':'Ready','status':'False'}]}}", "NotReady"},
        {"{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}", "NotReady"},
        {"{'status':{'conditions':[{'type':'DiskPressure','status':'True'}]}}", "Unknown"},
        {"{'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True'}]}"
         "}",
         "Ready,SchedulingDisabled"},
        {"{'spec':{'unschedulable':false},'status':{'conditions':[{'type':'Ready','status':'True'},"
         "{'type':'Ready','status':'False'}]}}",
         "NotReady"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *cells =
            xasprintf("['','%s','<none>','<unknown>','','<none>','<none>','<unknown>','<unknown>',"
                      "'<unknown>']",
                      rows[i].status);
        expect_cells("", "Node", rows[i].object, cells);
    }
}

static void test_node(void **state) {
    (void)state;
    static const struct {
        const char *labels, *roles;
    } rows[] = {
        {"", "<none>"},
        {"'node-role.kubernetes.io/control-plane':''", "control-plane"},
        {"'node-role.kubernetes.io/worker':'','kubernetes.io/role':'edge',"
         "'node-role.kubernetes.io/a':'x'",
         "a,edge,worker"},
        {"'node-role.kubernetes.io/edge':'','kubernetes.io/role':'edge'", "edge"},
        {"'node-role.kubernetes.io/':'x','kubernetes.io/role':'','role':'y'", "<none>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object = xasprintf(
            "{'metadata':{'name':'n','labels':{%s},'creationTimestamp':'2026-11-15T07:00:00Z'},"
            "'status':{'nodeInfo':{'kubeletVersion':'v1.36.3','osImage':'Debian',"
            "'kernelVersion':'6.1','architecture':'arm64','containerRuntimeVersion':'crun'},"
            "'addresses':[{'type':'Hostname','address':'h'},{'type':'InternalIP','address':'10.1'},"
            "{'type':'InternalIP','address':'10.2'},{'type':'ExternalIP','address':'1.2.3.4'}]}}",
            rows[i].labels);
        _cleanup_free_ char *cells = xasprintf("['n','Unknown','%s','60m','v1.36.3','10.1',"
                                               "'1.2.3.4','Debian','6.1 (arm64)','crun']",
                                               rows[i].roles);
        expect_cells("", "Node", object, cells);
    }
    expect_cells("", "Node", "{'status':{'nodeInfo':{'architecture':'amd64'}}}",
                 "['','Unknown','<none>','<unknown>','','<none>','<none>','<unknown>',"
                 "'<unknown> (amd64)','<unknown>']");
}

#define EVENT "'metadata':{'name':'e'},'type':'Warning','reason':'R','involvedObject':"

static void test_event(void **state) {
    (void)state;
    static const struct {
        const char *object, *cells;
    } rows[] = {
        {"{" EVENT "{'kind':'Pod','name':'P','fieldPath':'spec.x'},'message':'m','count':6,"
         "'source':{'component':'kubelet','host':'n1'},'firstTimestamp':'2026-11-15T07:55:00Z',"
         "'lastTimestamp':'2026-11-15T07:59:30Z'}",
         "['30s','Warning','R','pod/P','spec.x','kubelet, n1','m','5m',6,'e']"},
        {"{" EVENT "{'kind':'ReplicaSet','name':'x'},'source':{'component':'c'}}",
         "['<unknown>','Warning','R','replicaset/x','','c','','<unknown>',1,'e']"},
        {"{" EVENT "{'kind':'Node'}}",
         "['<unknown>','Warning','R','node','','','','<unknown>',1,'e']"},
        /* The last time is the first one where there is none, and that the event's. */
        {"{" EVENT "{},'firstTimestamp':'2026-11-15T07:55:00Z','lastTimestamp':null}",
         "['5m','Warning','R','','','','','5m',1,'e']"},
        {"{" EVENT "{},'firstTimestamp':null,'eventTime':'2026-11-15T07:57:00.500000Z',"
         "'reportingComponent':'a.dev/c','reportingInstance':'i'}",
         "['2m59s','Warning','R','','','a.dev/c, i','','2m59s',1,'e']"},
        {"{" EVENT "{},'eventTime':'2026-11-15T07:57:00.000000Z','series':{'count':9,"
         "'lastObservedTime':'2026-11-15T07:59:59.000001Z'},'count':3,"
         "'lastTimestamp':'2026-11-15T07:00:00Z'}",
         "['0s','Warning','R','','','','','3m',9,'e']"},
        {"{" EVENT "{},'series':{}}", "['<unknown>','Warning','R','','','','','<unknown>',0,'e']"},
        {"{" EVENT "{},'source':{'host':'n1'},'reportingComponent':'x','series':null}",
         "['<unknown>','Warning','R','','','x, n1','','<unknown>',1,'e']"},
        {"{" EVENT "{},'source':{'host':'n1'}}",
         "['<unknown>','Warning','R','','',', n1','','<unknown>',1,'e']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cells("", "Event", rows[i].object, rows[i].cells);
}

/* strings.TrimSpace: Unicode's white space at both ends. */
static void test_event_message(void **state) {
    (void)state;
    static const struct {
        const char *message, *text;
    } rows[] = {
        {"", ""},
        {" \\t\\n\\r\\f", ""},
        {"  a  b \\n", "a  b"},
        {"\\u00a0\\u2003a\\u3000\\u2028\\u0085", "a"},
        {"\\u200ba\\u200b", "\\u200ba\\u200b"}, /* of no width, but no space */
        {"\\u00e4 ", "\\u00e4"},
        {"a\\u000b", "a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object = xasprintf("{'message':'%s'}", rows[i].message);
        _cleanup_free_ char *cells =
            xasprintf("['<unknown>','','','','','','%s','<unknown>',1,'']", rows[i].text);
        expect_cells("", "Event", object, cells);
    }
}

static void test_service(void **state) {
    (void)state;
    static const struct {
        const char *spec, *ingress, *cells;
    } rows[] = {
        {"'type':'ClusterIP','clusterIP':'10.9.8.7','clusterIPs':['10.9.8.7','fd00::1'],"
         "'ports':[{'port':80,'protocol':'TCP'},{'port':53,'protocol':'UDP','nodePort':0}]",
         "", "'ClusterIP','10.9.8.7','<none>','80/TCP,53/UDP'"},
        {"'type':'ClusterIP','clusterIP':'10.9.8.7'", "",
         "'ClusterIP','10.9.8.7','<none>','<none>'"},
        {"'type':'ClusterIP','clusterIP':'None','clusterIPs':['None']", "",
         "'ClusterIP','None','<none>','<none>'"},
        {"'type':'NodePort','externalIPs':['2.2.2.2','1.1.1.1'],"
         "'ports':[{'port':80,'protocol':'TCP','nodePort':30080}]",
         "{'ip':'9.9.9.9'}", "'NodePort','<none>','2.2.2.2,1.1.1.1','80:30080/TCP'"},
        {"'type':'LoadBalancer'", "", "'LoadBalancer','<none>','<pending>','<none>'"},
        {"'type':'LoadBalancer'",
         "{'hostname':'b'},{'ip':'9.9.9.9','hostname':'z'},{'hostname':'a'},{'hostname':'b'},{}",
         "'LoadBalancer','<none>','9.9.9.9,a,b','<none>'"},
        /* Never cut: the server prints the wide form. */
        {"'type':'LoadBalancer'", "{'hostname':'a-name-of-more-than-sixteen-bytes.example.com'}",
         "'LoadBalancer','<none>','a-name-of-more-than-sixteen-bytes.example.com','<none>'"},
        {"'type':'LoadBalancer','externalIPs':['1.1.1.1']", "{'ip':'9.9.9.9'}",
         "'LoadBalancer','<none>','9.9.9.9,1.1.1.1','<none>'"},
        {"'type':'LoadBalancer','externalIPs':['1.1.1.1']", "",
         "'LoadBalancer','<none>','1.1.1.1','<none>'"},
        {"'type':'ExternalName','externalName':'x.example.com','externalIPs':['1.1.1.1']", "",
         "'ExternalName','<none>','x.example.com','<none>'"},
        {"'type':'Other'", "", "'Other','<none>','<unknown>','<none>'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object = xasprintf(
            "{'metadata':{'name':'s'},'spec':{%s},'status':{'loadBalancer':{'ingress':[%s]"
            "}}}",
            rows[i].spec, rows[i].ingress);
        _cleanup_free_ char *cells = xasprintf("['s',%s,'<unknown>','<none>']", rows[i].cells);
        expect_cells("", "Service", object, cells);
    }
}

static void test_endpoint_slice(void **state) {
    (void)state;
    static const struct {
        const char *ports, *endpoints, *cells;
    } rows[] = {
        {"null", "null", "'<unset>','<unset>'"},
        {"[]", "[{'addresses':[]}]", "'<unset>','<unset>'"},
        {"[{'port':80},{'name':'x','port':81}]", "[{'addresses':['a','b']},{'addresses':['c']}]",
         "'80,81','a,b,c'"},
        {"[{'port':1},{'port':2},{'port':3},{'port':4}]",
         "[{'addresses':['a','b']},{'addresses':['c','d','e']}]",
         "'1,2,3 + 1 more...','a,b,c + 2 more...'"},
        {"[{'name':'http'},{},{'port':null}]", "[{'addresses':['a']}]", "'http,*,*','a'"},
        {"[{'name':''}]", "[]", "'<unset>','<unset>'"},
        {"[{'name':''},{'name':''}]", "[]", "',','<unset>'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *object =
            xasprintf("{'metadata':{'name':'s'},'addressType':'IPv4','ports':%s,'endpoints':%s}",
                      rows[i].ports, rows[i].endpoints);
        _cleanup_free_ char *cells = xasprintf("['s','IPv4',%s,'<unknown>']", rows[i].cells);
        expect_cells("discovery.k8s.io", "EndpointSlice", object, cells);
    }
}

static void test_small(void **state) {
    (void)state;
    static const struct {
        const char *group, *kind, *object, *cells;
    } rows[] = {
        {"", "Namespace", "{'metadata':{'name':'n'},'status':{'phase':'Terminating'}}",
         "['n','Terminating','<unknown>']"},
        {"", "ConfigMap", "{'data':{'a':'1','b':'2'},'binaryData':{'c':''}}", "['',3,'<unknown>']"},
        {"", "ConfigMap", "{}", "['',0,'<unknown>']"},
        {"", "Secret", "{'type':'Opaque','data':{'a':'1'}}", "['','Opaque',1,'<unknown>']"},
        {"coordination.k8s.io", "Lease", "{'spec':{'holderIdentity':'me'}}",
         "['','me','<unknown>']"},
        {"coordination.k8s.io", "Lease", "{'spec':{}}", "['','','<unknown>']"},
        {"scheduling.k8s.io", "PriorityClass",
         "{'value':-5,'globalDefault':true,'preemptionPolicy':'Never'}",
         "['',-5,true,'<unknown>','Never']"},
        {"scheduling.k8s.io", "PriorityClass", "{}", "['',0,false,'<unknown>','']"},
        {"apiextensions.k8s.io", "CustomResourceDefinition",
         "{'metadata':{'name':'x','creationTimestamp':'2026-11-15T07:00:00Z'}}",
         "['x','2026-11-15T07:00:00Z']"},
        {"apiextensions.k8s.io", "CustomResourceDefinition", "{}", "['','0001-01-01T00:00:00Z']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_cells(rows[i].group, rows[i].kind, rows[i].object, rows[i].cells);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),        cmocka_unit_test(test_node_status),
        cmocka_unit_test(test_node),           cmocka_unit_test(test_event),
        cmocka_unit_test(test_event_message),  cmocka_unit_test(test_service),
        cmocka_unit_test(test_endpoint_slice), cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests_name("table_core", tests, NULL, NULL);
}
