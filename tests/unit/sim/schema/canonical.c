/* Tests of schema/canonical. What is expected is what Kubernetes' own code says
 * (tools/schema/judge): the object decoded, written to the store, read from it, and printed. */
#include <errno.h>

#include "schema_test.h"
#include "sim/schema/build.h"

struct row {
    const char *kind, *in, *expected;
};

/* clang-format off */
static const struct row good[] = {
    /* empty objects */
    {"Pod", "{}",
     "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
    {"Node", "{}",
     "{\"metadata\":{},\"spec\":{},\"status\":{\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":0}},\"nodeInfo\":{\"machineID\":\"\",\"systemUUID\":\"\",\"bootID\":\"\",\"kernelVersion\":\"\",\"osImage\":\"\",\"containerRuntimeVersion\":\"\",\"kubeletVersion\":\"\",\"kubeProxyVersion\":\"\",\"operatingSystem\":\"\",\"architecture\":\"\"}}}"},
    {"apps/Deployment", "{}",
     "{\"metadata\":{},\"spec\":{\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":null}},\"strategy\":{}},\"status\":{}}"},
    {"apps/StatefulSet", "{}",
     "{\"metadata\":{},\"spec\":{\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":null}},\"serviceName\":\"\",\"updateStrategy\":{}},\"status\":{\"replicas\":0,\"availableReplicas\":0}}"},
    {"apps/DaemonSet", "{}",
     "{\"metadata\":{},\"spec\":{\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":null}},\"updateStrategy\":{}},\"status\":{\"currentNumberScheduled\":0,\"numberMisscheduled\":0,\"desiredNumberScheduled\":0,\"numberReady\":0}}"},
    {"apps/ControllerRevision", "{}",
     "{\"metadata\":{},\"data\":null,\"revision\":0}"},
    {"Event", "{}",
     "{\"metadata\":{},\"involvedObject\":{},\"source\":{},\"firstTimestamp\":null,\"lastTimestamp\":null,\"eventTime\":null,\"reportingComponent\":\"\",\"reportingInstance\":\"\"}"},
    {"events.k8s.io/Event", "{}",
     "{\"metadata\":{},\"eventTime\":null,\"regarding\":{},\"deprecatedSource\":{},\"deprecatedFirstTimestamp\":null,\"deprecatedLastTimestamp\":null}"},
    {"storage.k8s.io/CSINode", "{}",
     "{\"metadata\":{},\"spec\":{\"drivers\":null}}"},
    {"discovery.k8s.io/EndpointSlice", "{}",
     "{\"metadata\":{},\"addressType\":\"\",\"endpoints\":null,\"ports\":null}"},
    {"policy/PodDisruptionBudget", "{}",
     "{\"metadata\":{},\"spec\":{},\"status\":{\"disruptionsAllowed\":0,\"currentHealthy\":0,\"desiredHealthy\":0,\"expectedPods\":0}}"},
    {"batch/Job", "{}",
     "{\"metadata\":{},\"spec\":{\"template\":{\"metadata\":{},\"spec\":{\"containers\":null}}},\"status\":{}}"},
    {"Service", "{}",
     "{\"metadata\":{},\"spec\":{},\"status\":{\"loadBalancer\":{}}}"},
    {"storage.k8s.io/VolumeAttachment", "{}",
     "{\"metadata\":{},\"spec\":{\"attacher\":\"\",\"source\":{},\"nodeName\":\"\"},\"status\":{\"attached\":false}}"},
    {"coordination.k8s.io/Lease", "{}",
     "{\"metadata\":{},\"spec\":{}}"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{}",
     "{\"metadata\":{},\"spec\":{\"group\":\"\",\"names\":{\"plural\":\"\",\"kind\":\"\"},\"scope\":\"\",\"versions\":null},\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":null}}"},
    {"authorization.k8s.io/SelfSubjectAccessReview", "{}",
     "{\"metadata\":{},\"spec\":{},\"status\":{\"allowed\":false}}"},
    {"autoscaling/Scale", "{}",
     "{\"metadata\":{},\"spec\":{},\"status\":{\"replicas\":0}}"},
    /* null is an empty object */
    {"Pod", "null",
     "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
    /* kind and apiVersion stay, in that order */
    {"Pod", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
    /* order is the table's, and of maps by key */
    {"Pod", "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"memory\":\"1024Mi\",\"cpu\":\"1000m\"},\"limits\":{}},\"name\":\"a\"}]},\"metadata\":{\"labels\":{\"b\":\"2\",\"a\":\"1\",\"\303\251\":\"3\",\"B\":\"0\"},\"name\":\"x\"}}",
     "{\"metadata\":{\"name\":\"x\",\"labels\":{\"B\":\"0\",\"a\":\"1\",\"b\":\"2\",\"\303\251\":\"3\"}},\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]},\"status\":{}}"},
    /* empty is left out, or null where it cannot be */
    {"Pod", "{\"metadata\":{\"name\":\"\",\"labels\":{},\"finalizers\":[],\"generation\":0,\"ownerReferences\":null},\"spec\":{\"containers\":[],\"nodeName\":\"\",\"hostNetwork\":false,\"tolerations\":[]}}",
     "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
    {"storage.k8s.io/CSINode", "{\"spec\":{\"drivers\":[]}}",
     "{\"metadata\":{},\"spec\":{\"drivers\":null}}"},
    /* pointers to zero stay */
    {"Pod", "{\"spec\":{\"containers\":null,\"priority\":0,\"terminationGracePeriodSeconds\":0,\"automountServiceAccountToken\":false,\"securityContext\":{},\"affinity\":{},\"runtimeClassName\":\"\"}}",
     "{\"metadata\":{},\"spec\":{\"containers\":null,\"terminationGracePeriodSeconds\":0,\"automountServiceAccountToken\":false,\"securityContext\":{},\"affinity\":{},\"priority\":0,\"runtimeClassName\":\"\"},\"status\":{}}"},
    /* null elements are zero elements */
    {"Pod", "{\"metadata\":{\"labels\":{\"a\":null},\"finalizers\":[null,\"x\"],\"ownerReferences\":[null]},\"spec\":{\"containers\":[null],\"overhead\":{\"cpu\":null}}}",
     "{\"metadata\":{\"labels\":{\"a\":\"\"},\"ownerReferences\":[{\"apiVersion\":\"\",\"kind\":\"\",\"name\":\"\",\"uid\":\"\"}],\"finalizers\":[\"\",\"x\"]},\"spec\":{\"containers\":[{\"name\":\"\",\"resources\":{}}],\"overhead\":{\"cpu\":\"0\"}},\"status\":{}}"},
    {"Secret", "{\"data\":{\"a\":null,\"b\":\"\",\"c\":\"AQID\",\"d\":[1,2,3],\"e\":\"AQ\\nID\"}}",
     "{\"metadata\":{},\"data\":{\"a\":\"\",\"b\":\"\",\"c\":\"AQID\",\"d\":\"AQID\",\"e\":\"AQID\"}}"},
    {"authentication.k8s.io/SelfSubjectReview", "{\"status\":{\"userInfo\":{\"extra\":{\"b\":[\"x\",null],\"a\":null,\"c\":[]}}}}",
     "{\"metadata\":{},\"status\":{\"userInfo\":{\"extra\":{\"a\":[],\"b\":[\"x\",\"\"],\"c\":[]}}}}"},
    /* times */
    {"Pod", "{\"metadata\":{\"creationTimestamp\":\"2026-11-15T08:00:00+01:00\",\"deletionTimestamp\":\"0001-01-01T00:00:00Z\"},\"status\":{\"startTime\":\"2026-11-15T08:00:00.9Z\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastProbeTime\":null}]}}",
     "{\"metadata\":{\"creationTimestamp\":\"2026-11-15T07:00:00Z\",\"deletionTimestamp\":null},\"spec\":{\"containers\":null},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":null}],\"startTime\":\"2026-11-15T08:00:00Z\"}}"},
    {"Pod", "{\"metadata\":{\"creationTimestamp\":null,\"deletionTimestamp\":null}}",
     "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
    {"coordination.k8s.io/Lease", "{\"spec\":{\"renewTime\":\"2026-11-15T08:00:00.123456Z\",\"leaseDurationSeconds\":15}}",
     "{\"metadata\":{},\"spec\":{\"leaseDurationSeconds\":15,\"renewTime\":\"2026-11-15T08:00:00.123456Z\"}}"},
    /* numbers or strings */
    {"policy/PodDisruptionBudget", "{\"spec\":{\"minAvailable\":0,\"maxUnavailable\":\"50%\"}}",
     "{\"metadata\":{},\"spec\":{\"minAvailable\":0,\"maxUnavailable\":\"50%\"},\"status\":{\"disruptionsAllowed\":0,\"currentHealthy\":0,\"desiredHealthy\":0,\"expectedPods\":0}}"},
    {"Service", "{\"spec\":{\"ports\":[{\"port\":80},{\"port\":81,\"targetPort\":\"http\"},{\"port\":82,\"targetPort\":\"82\"}]}}",
     "{\"metadata\":{},\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":0},{\"port\":81,\"targetPort\":\"http\"},{\"port\":82,\"targetPort\":\"82\"}]},\"status\":{\"loadBalancer\":{}}}"},
    /* inlined objects stand among their holders' fields */
    {"Pod", "{\"spec\":{\"volumes\":[{\"emptyDir\":{\"sizeLimit\":\"1e3\"},\"name\":\"v\"},{\"configMap\":{\"name\":\"c\",\"items\":[{\"path\":\"p\",\"key\":\"k\"}]},\"name\":\"w\"}],\"containers\":[{\"name\":\"c\",\"livenessProbe\":{\"periodSeconds\":5,\"httpGet\":{\"port\":80}}}],\"ephemeralContainers\":[{\"name\":\"e\",\"targetContainerName\":\"c\"}]}}",
     "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"sizeLimit\":\"1e3\"}},{\"name\":\"w\",\"configMap\":{\"name\":\"c\",\"items\":[{\"key\":\"k\",\"path\":\"p\"}]}}],\"containers\":[{\"name\":\"c\",\"resources\":{},\"livenessProbe\":{\"httpGet\":{\"port\":80},\"periodSeconds\":5}}],\"ephemeralContainers\":[{\"name\":\"e\",\"resources\":{},\"targetContainerName\":\"c\"}]},\"status\":{}}"},
    /* anything is kept as it is where anything may stand */
    {"apps/ControllerRevision", "{\"data\":{\"b\":[1,{\"z\":null,\"a\":1.5}],\"a\":\"<&>\"},\"revision\":3}",
     "{\"metadata\":{},\"data\":{\"b\":[1,{\"z\":null,\"a\":1.5}],\"a\":\"\\u003c\\u0026\\u003e\"},\"revision\":3}"},
    {"apps/ControllerRevision", "{\"data\":null,\"revision\":3}",
     "{\"metadata\":{},\"data\":null,\"revision\":3}"},
    /* JSON schemas */
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"default\":{\"x\":1},\"maximum\":5.0,\"minimum\":0.1,\"multipleOf\":1e30,\"items\":{\"type\":\"string\",\"foo\":1},\"additionalProperties\":true,\"properties\":{\"b\":{\"items\":[{\"type\":\"integer\"},{}]},\"a\":{\"additionalProperties\":{\"type\":\"string\"}}},\"dependencies\":{\"p\":[\"q\"],\"r\":{\"type\":\"object\"},\"s\":5},\"additionalItems\":false,\"enum\":[null,1,\"x\"],\"required\":[\"b\",\"a\"]}}}]}}",
     "{\"metadata\":{},\"spec\":{\"group\":\"\",\"names\":{\"plural\":\"\",\"kind\":\"\"},\"scope\":\"\",\"versions\":[{\"name\":\"v1\",\"served\":false,\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"default\":{\"x\":1},\"maximum\":5,\"minimum\":0.1,\"multipleOf\":1e+30,\"enum\":[null,1,\"x\"],\"required\":[\"b\",\"a\"],\"items\":{\"type\":\"string\"},\"properties\":{\"a\":{\"additionalProperties\":{\"type\":\"string\"}},\"b\":{\"items\":[{\"type\":\"integer\"},{}]}},\"additionalProperties\":true,\"dependencies\":{\"p\":[\"q\"],\"r\":{\"type\":\"object\"},\"s\":null},\"additionalItems\":false}}}]},\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":null}}"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"items\":true,\"properties\":{\"x\":{\"items\":[]}}}}}]}}",
     "{\"metadata\":{},\"spec\":{\"group\":\"\",\"names\":{\"plural\":\"\",\"kind\":\"\"},\"scope\":\"\",\"versions\":[{\"name\":\"\",\"served\":false,\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"items\":null,\"properties\":{\"x\":{\"items\":null}}}}}]},\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":null}}"},
    /* text */
    {"ConfigMap", "{\"data\":{\"a\":\"<a href=\\\"x\\\">&\342\200\250\303\251\\\\\\n\\t\\u0001\\u007f\"}}",
     "{\"metadata\":{},\"data\":{\"a\":\"\\u003ca href=\\\"x\\\"\\u003e\\u0026\\u2028\303\251\\\\\\n\\t\\u0001\177\"}}"},
};

static const struct row bad[] = {
    {"apps/Deployment", "{\"spec\":{\"replicas\":\"x\"}}",
     "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"},
    {"apps/Deployment", "{\"spec\":{\"replicas\":1.5}}",
     "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32"},
    {"apps/Deployment", "{\"spec\":{\"replicas\":3000000000}}",
     "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32"},
    {"apps/Deployment", "{\"spec\":{\"replicas\":{}}}",
     "json: cannot unmarshal object into Go struct field DeploymentSpec.spec.replicas of type int32"},
    {"apps/Deployment", "{\"spec\":[]}",
     "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"},
    {"apps/Deployment", "[]",
     "json: cannot unmarshal array into Go value of type v1.Deployment"},
    {"Pod", "\"x\"",
     "json: cannot unmarshal string into Go value of type v1.Pod"},
    {"Pod", "5",
     "json: cannot unmarshal number into Go value of type v1.Pod"},
    {"Pod", "true",
     "json: cannot unmarshal bool into Go value of type v1.Pod"},
    {"Pod", "{\"metadata\":{\"name\":5}}",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
    {"Pod", "{\"metadata\":{\"labels\":[]}}",
     "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string"},
    {"Pod", "{\"metadata\":{\"labels\":{\"a\":1}}}",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"},
    {"Pod", "{\"metadata\":{\"finalizers\":\"x\"}}",
     "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.finalizers of type []string"},
    {"Pod", "{\"metadata\":{\"finalizers\":[{}]}}",
     "json: cannot unmarshal object into Go struct field ObjectMeta.metadata.finalizers of type string"},
    {"Pod", "{\"metadata\":{\"uid\":5}}",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID"},
    {"Pod", "{\"kind\":5}",
     "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string"},
    {"Pod", "{\"spec\":{\"containers\":{}}}",
     "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"},
    {"Pod", "{\"spec\":{\"containers\":[\"x\"]}}",
     "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container"},
    {"Pod", "{\"spec\":{\"containers\":[{\"ports\":[{\"containerPort\":\"80\"}]}]}}",
     "json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32"},
    {"Pod", "{\"spec\":{\"volumes\":[{\"emptyDir\":\"x\"}]}}",
     "json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource"},
    {"Pod", "{\"spec\":{\"volumes\":[{\"emptyDir\":{\"medium\":true}}]}}",
     "json: cannot unmarshal bool into Go struct field EmptyDirVolumeSource.spec.volumes.VolumeSource.emptyDir.medium of type v1.StorageMedium"},
    {"Pod", "{\"spec\":{\"overhead\":\"x\"}}",
     "json: cannot unmarshal string into Go struct field PodSpec.spec.overhead of type v1.ResourceList"},
    {"Pod", "{\"spec\":{\"overhead\":{\"cpu\":\"x\"}}}",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"Pod", "{\"spec\":{\"overhead\":{\"cpu\":true}}}",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"Pod", "{\"spec\":{\"overhead\":{\"cpu\":{}}}}",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"Pod", "{\"metadata\":{\"creationTimestamp\":\"x\"}}",
     "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\""},
    {"Pod", "{\"metadata\":{\"creationTimestamp\":5}}",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
    {"Pod", "{\"metadata\":{\"creationTimestamp\":{}}}",
     "json: cannot unmarshal object into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
    {"policy/PodDisruptionBudget", "{\"spec\":{\"minAvailable\":true}}",
     "json: cannot unmarshal bool into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32"},
    {"policy/PodDisruptionBudget", "{\"spec\":{\"minAvailable\":1.5}}",
     "json: cannot unmarshal number 1.5 into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32"},
    {"policy/PodDisruptionBudget", "{\"spec\":{\"minAvailable\":[]}}",
     "json: cannot unmarshal array into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32"},
    {"policy/PodDisruptionBudget", "{\"spec\":{\"minAvailable\":3000000000}}",
     "json: cannot unmarshal number 3000000000 into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32"},
    {"Secret", "{\"data\":{\"a\":\"x\"}}",
     "illegal base64 data at input byte 0"},
    {"Secret", "{\"data\":{\"a\":5}}",
     "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"},
    {"Secret", "{\"data\":{\"a\":[256]}}",
     "json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8"},
    {"Secret", "{\"data\":{\"a\":[\"x\"]}}",
     "json: cannot unmarshal string into Go struct field Secret.data of type uint8"},
    {"Secret", "{\"data\":\"x\"}",
     "json: cannot unmarshal string into Go struct field Secret.data of type map[string][]uint8"},
    {"Secret", "{\"data\":{\"a\":\"AQI*\"}}",
     "illegal base64 data at input byte 3"},
    {"Secret", "{\"data\":{\"a\":\"AQI=x\"}}",
     "illegal base64 data at input byte 4"},
    {"Secret", "{\"data\":{\"a\":\"AQ==\"}, \"immutable\":\"x\"}",
     "json: cannot unmarshal string into Go struct field Secret.immutable of type bool"},
    {"authentication.k8s.io/SelfSubjectReview", "{\"status\":{\"userInfo\":{\"extra\":{\"a\":\"x\"}}}}",
     "json: cannot unmarshal string into Go struct field UserInfo.status.userInfo.extra of type v1.ExtraValue"},
    {"authentication.k8s.io/SelfSubjectReview", "{\"status\":{\"userInfo\":{\"extra\":{\"a\":[5]}}}}",
     "json: cannot unmarshal number into Go struct field UserInfo.status.userInfo.extra of type string"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"additionalProperties\":5}}}]}}",
     "boolean or JSON schema expected"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"additionalProperties\":{\"properties\":{\"x\":{\"type\":5}}}}}}]}}",
     "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.additionalProperties.properties.type of type string"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"items\":[{\"type\":5}]}}}]}}",
     "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type of type string"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"items\":[\"x\"]}}}]}}",
     "json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items of type v1.JSONSchemaProps"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"dependencies\":{\"a\":[5]}}}}]}}",
     "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.dependencies of type string"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"maximum\":\"x\"}}}]}}",
     "json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.maximum of type float64"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"x-kubernetes-validations\":\"x\"}}}]}}",
     "json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.x-kubernetes-validations of type v1.ValidationRules"},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"x-kubernetes-validations\":[\"x\"]}}}]}}",
     "json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.x-kubernetes-validations of type v1.ValidationRule"},
    {"Pod", "{\"metadata\":{\"name\":5},\"spec\":{\"containers\":{}}}",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
    {"Pod", "{\"metadata\":{\"name\":5},\"spec\":{\"overhead\":{\"cpu\":\"x\"}}}",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"Pod", "{\"spec\":{\"overhead\":{\"cpu\":\"x\",\"memory\":\"1Kii\"}},\"metadata\":{\"name\":5}}",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
};

static const struct row noted[] = {
    {"Pod", "{\"foo\":1,\"spec\":{\"bar\":{\"baz\":1},\"containers\":[{\"name\":\"a\"},{\"Name\":\"b\",\"x y\":1}],\"overhead\":{\"cpu\":\"1\"}}}",
     "unknown field \"foo\"; unknown field \"spec.bar\"; unknown field \"spec.containers[1].Name\"; unknown field \"spec.containers[1].x y\""},
    {"Pod", "{\"metadata\":{\"labels\":{\"foo\":\"x\"}},\"Spec\":{},\"SPEC\":{},\"a.b\":1,\"q\\\"uo\\n\":1}",
     "unknown field \"Spec\"; unknown field \"SPEC\"; unknown field \"a.b\"; unknown field \"q\\\"uo\\n\""},
    {"apps/ControllerRevision", "{\"data\":{\"foo\":1}}",
     ""},
    {"apiextensions.k8s.io/CustomResourceDefinition", "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"foo\":1,\"items\":{\"bar\":1},\"properties\":{\"p.q\":{\"baz\":1}},\"allOf\":[{},{\"qux\":1}]}}}]}}",
     "unknown field \"spec.versions[0].schema.openAPIV3Schema.foo\"; unknown field \"spec.versions[0].schema.openAPIV3Schema.properties.p.q.baz\"; unknown field \"spec.versions[0].schema.openAPIV3Schema.allOf[1].qux\""},
};
/* clang-format on */

static void objects(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_free_ char *text = canonical_text(kind(good[i].kind), good[i].in, NULL);
        assert_string_equal(text, good[i].expected);
    }
}

/* What is canonical stays as it is; but a pointer to something that prints as null is none when
 * that is read again, in Go, too. */
static void twice(void **state) {
    (void)state;
    size_t same = 0;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct schema_notes notes = {0};
        _cleanup_free_ char *again = canonical_text(kind(good[i].kind), good[i].expected, &notes);
        _cleanup_free_ char *once_more = canonical_text(kind(good[i].kind), again, &notes);
        assert_string_equal(again, once_more);
        assert_int_equal(notes.texts.len, 0);
        same += streq(again, good[i].expected);
    }
    assert_int_equal(same, ARRAY_LEN(good) - 2); /* deletionTimestamp and items */
}

static void wrong_types(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_free_ char *text = canonical_text(kind(bad[i].kind), bad[i].in, NULL);
        if (!str_starts(text, "error: "))
            fail_msg("%s: %s", bad[i].in, text);
        assert_string_equal(text + strlen("error: "), bad[i].expected);
    }
}

static void unknown_fields(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(noted); i++) {
        struct schema_notes notes = {0};
        _cleanup_str_ struct str all = STR_INIT;
        free(canonical_text(kind(noted[i].kind), noted[i].in, &notes));
        for (size_t j = 0; j < notes.texts.len; j++)
            str_addf(&all, "%s%s", j ? "; " : "", notes.texts.p[j]);
        schema_notes_done(&notes);
        assert_string_equal(str_get(&all), noted[i].expected);
    }
}

/* The value that was given is neither changed nor shared. */
static void input_is_left_alone(void **state) {
    (void)state;
    _cleanup_json_ json_t *in = value_of("{\"data\":{\"a\":[1]},\"metadata\":{\"name\":\"x\"}}");
    _cleanup_json_ json_t *before = json_deep_copy(in), *out = NULL;
    assert_int_equal(schema_canonical(kind("apps/ControllerRevision"), in, &out, NULL, NULL), 0);
    json_array_clear(json_object_get(json_object_get(out, "data"), "a"));
    json_object_clear(json_object_get(out, "metadata"));
    assert_true(json_equal(in, before));
}

static void errors_without_words(void **state) {
    (void)state;
    _cleanup_json_ json_t *in = value_of("{\"spec\":5}");
    json_t *out = (json_t *)&out;
    assert_int_equal(schema_canonical(kind("Pod"), in, &out, NULL, NULL), -EINVAL);
    assert_ptr_equal(out, &out);
}

/* {"properties":{"a":{"properties":...}}}, with as many levels. */
static json_t *deep_schema(int levels) {
    json_t *v = json_object();
    for (int i = 0; i < levels; i++)
        v = json_pack("{s:{s:o}}", "properties", "a", v);
    return json_pack("{s:{s:[{s:{s:o}}]}}", "spec", "versions", "schema", "openAPIV3Schema", v);
}

static void depth(void **state) {
    (void)state;
    const struct schema *s = kind("apiextensions.k8s.io/CustomResourceDefinition");
    _cleanup_json_ json_t *fits = deep_schema(SCHEMA_DEPTH - 5),
                          *deeper = deep_schema(SCHEMA_DEPTH);
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *out = NULL;
    assert_int_equal(schema_canonical(s, fits, &out, NULL, NULL), 0);
    json_decref(out);
    assert_int_equal(schema_canonical(s, deeper, &out, NULL, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "exceeded max depth");
}

/* A short text that would be a huge object. */
static void bombs(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *list = json_array(), *out = NULL;
    for (int i = 0; i <= SCHEMA_MOST_ELEMENTS; i++)
        json_array_append_new(list, json_null());
    _cleanup_json_ json_t *pod = json_pack("{s:{s:o}}", "spec", "containers", list);
    assert_int_equal(schema_canonical(kind("Pod"), pod, &out, NULL, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "more list elements than any object has");
    json_array_remove(list, 0);
    assert_int_equal(schema_canonical(kind("Pod"), pod, &out, NULL, NULL), 0);
    json_decref(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects),
        cmocka_unit_test(twice),
        cmocka_unit_test(wrong_types),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(input_is_left_alone),
        cmocka_unit_test(errors_without_words),
        cmocka_unit_test(depth),
        cmocka_unit_test(bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
