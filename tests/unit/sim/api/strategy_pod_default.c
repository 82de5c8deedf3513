/* Tests of api/strategy_pod_default: defaults of pods. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_pod_default");
}

/* TestParseImageName() of pkg/util/parsers: whether the tag is "latest". */
static void test_pull_policy(void **state) {
#define SHA "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static const struct {
        const char *image;
        bool latest;
    } cases[] = {
        {"root", true},
        {"root:latest", true},
        {"root:tag", false},
        {"root@" SHA, false},
        {"user/repo", true},
        {"user/repo:tag", false},
        {"user/repo@" SHA, false},
        {"url:5000/repo", true},
        {"url:5000/repo:tag", false},
        {"url:5000/repo@" SHA, false},
        {"url:5000/repo:latest@" SHA, true},
        {"ROOT", false},
        {"http://root", false},
        {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false},
        {"", false},
        {":", false},
        {"/", false},
        {"@", false},
        {"a:", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_json_ json_t *pod = json_pack("{s:{s:[{s:s,s:s}]}}", "spec", "containers", "name",
                                               "c", "image", cases[i].image);
        default_pod(pod);
        const json_t *c =
            json_array_get(json_object_get(json_object_get(pod, "spec"), "containers"), 0);
        if (!str_same(json_str(c, "imagePullPolicy"), cases[i].latest ? "Always" : "IfNotPresent"))
            fail_msg("%s: %s", cases[i].image, json_str(c, "imagePullPolicy"));
    }
}

static void test_spec(void **state) {
    _cleanup_json_ json_t *pod = expect_json("{'spec':{'containers':[{'name':'c','image':'i'}]}}");
    (void)state;
    default_pod(pod);
    expect_member(pod, "spec/restartPolicy", "'Always'");
    expect_member(pod, "spec/dnsPolicy", "'ClusterFirst'");
    expect_member(pod, "spec/schedulerName", "'default-scheduler'");
    expect_member(pod, "spec/terminationGracePeriodSeconds", "30");
    expect_member(pod, "spec/securityContext", "{}");
    expect_member(pod, "spec/enableServiceLinks", "true");
    expect_member(pod, "spec/containers/0/terminationMessagePath", "'/dev/termination-log'");
    expect_member(pod, "spec/containers/0/terminationMessagePolicy", "'File'");
}

static void test_host_network(void **state) {
    _cleanup_json_ json_t *pod = expect_json(
        "{'spec':{'hostNetwork':true,'containers':[{'ports':[{'containerPort':80}]}]}}");
    (void)state;
    default_pod(pod);
    expect_member(pod, "spec/containers/0/ports/0",
                  "{'containerPort':80,'hostPort':80,'protocol':'TCP'}");
}

static void test_requests(void **state) {
    _cleanup_json_ json_t *pod =
        expect_json("{'spec':{'containers':[{'resources':{'limits':{'cpu':'1','memory':'1Gi'},"
                    "'requests':{'cpu':'500m'}}}]}}");
    (void)state;
    default_pod(pod);
    expect_member(pod, "spec/containers/0/resources/requests", "{'cpu':'500m','memory':'1Gi'}");
}

static void test_probes(void **state) {
    _cleanup_json_ json_t *pod = expect_json(
        "{'spec':{'containers':[{'livenessProbe':{'httpGet':{'port':80}},'readinessProbe':{"
        "'grpc':{'port':1}}}]}}");
    (void)state;
    default_pod(pod);
    expect_member(pod, "spec/containers/0/livenessProbe",
                  "{'httpGet':{'port':80,'path':'/','scheme':'HTTP'},'timeoutSeconds':1,"
                  "'periodSeconds':10,'successThreshold':1,'failureThreshold':3}");
    expect_member(pod, "spec/containers/0/readinessProbe/grpc/service", "''");
}

static void test_volumes(void **state) {
    static const struct {
        const char *given, *made;
    } cases[] = {
        {"{'name':'v'}", "{'name':'v','emptyDir':{}}"},
        {"{'secret':{'secretName':'s'}}", "{'secret':{'secretName':'s','defaultMode':420}}"},
        {"{'configMap':{'name':'s','defaultMode':0}}",
         "{'configMap':{'name':'s','defaultMode':0}}"},
        {"{'hostPath':{'path':'/'}}", "{'hostPath':{'path':'/','type':''}}"},
        {"{'projected':{'sources':[{'serviceAccountToken':{'path':'t'}}]}}",
         "{'projected':{'sources':[{'serviceAccountToken':{'path':'t','expirationSeconds':3600}}],"
         "'defaultMode':420}}"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_json_ json_t *pod = expect_json("{'spec':{'volumes':[]}}");
        json_array_append_new(json_object_get(json_object_get(pod, "spec"), "volumes"),
                              expect_json(cases[i].given));
        default_pod(pod);
        expect_member(pod, "spec/volumes/0", cases[i].made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_pull_policy),
        cmocka_unit_test(test_spec),     cmocka_unit_test(test_host_network),
        cmocka_unit_test(test_requests), cmocka_unit_test(test_probes),
        cmocka_unit_test(test_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
