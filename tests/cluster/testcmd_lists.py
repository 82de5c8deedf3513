"""Which functions of Kubernetes' test/cmd are tried by testcmd.py, and what is known to stop them."""

# Functions that are about something else than the verbs and kinds that the simulator serves.
OTHER = {
    "run_kubectl_server_side_apply_tests": "server-side apply",
    "run_kubectl_auth_whoami_tests": "SelfSubjectReview",
    "run_exec_credentials_tests": "CertificateSigningRequest and credential plugins",
    "run_exec_credentials_interactive_tests": "credential plugins",
    "run_authorization_tests": "SubjectAccessReview",
    "run_impersonation_tests": "CertificateSigningRequest and impersonation",
    "run_certificates_tests": "CertificateSigningRequest",
    "run_convert_tests": "the plugin kubectl-convert",
    "run_kubectl_debug_tests": "kubectl debug",
    "run_kubectl_debug_node_tests": "kubectl debug",
    "run_kubectl_debug_legacy_tests": "kubectl debug",
    "run_kubectl_debug_legacy_node_tests": "kubectl debug",
    "run_kubectl_debug_baseline_tests": "kubectl debug",
    "run_kubectl_debug_baseline_node_tests": "kubectl debug",
    "run_kubectl_debug_restricted_tests": "kubectl debug",
    "run_kubectl_debug_restricted_node_tests": "kubectl debug",
    "run_kubectl_debug_netadmin_tests": "kubectl debug",
    "run_kubectl_debug_netadmin_node_tests": "kubectl debug",
    "run_kubectl_debug_custom_profile_tests": "kubectl debug",
    "run_kubectl_debug_warning_tests": "kubectl debug",
    "run_kubectl_exec_pod_tests": "kubectl exec",
    "run_kubectl_exec_resource_name_tests": "kubectl exec",
    "run_kubectl_help_tests": "no server",
    "run_kubectl_config_set_tests": "no server",
    "run_kubectl_config_set_cluster_tests": "no server",
    "run_kubectl_config_set_credentials_tests": "no server",
    "run_kuberc_tests": "kubectl's own preferences",
    "run_plugins_tests": "kubectl's plugins",
    "run_swagger_tests": "the descriptions in OpenAPI v2",
    "run_clusterroles_tests": "RBAC",
    "run_role_tests": "RBAC",
    "run_rc_tests": "ReplicationController",
    "run_pod_templates_tests": "PodTemplate",
}

# Spans of lines that are left out for the simulator: (part of the first line, part of the last, why).  Two lines that ask for
# managedFields, and compare them, are left out wherever they are.
PRUNE = "`apply --prune` wants ReplicationController, Endpoints, CronJob and Ingress to be served"
HPA = "HorizontalPodAutoscaler"
CRON = "CronJob"
QUOTA = "ResourceQuota"
RBAC = "RBAC"
RC = "ReplicationController"
SSA = "server-side apply"
LEFT_OUT: dict[str, list[tuple[str, str, str]]] = {
    "run_kubectl_apply_tests": [
        ("# hard.limits.cpu should be nil.", "# cleanup", QUOTA),
        ("## kubectl apply --prune", "## kubectl apply -n must fail", PRUNE),
    ],
    "run_create_job_tests": [("# Test kubectl create job from cronjob", "kubectl delete cronjob", CRON)],
    "run_deployment_tests": [
        ("# Pre-condition: no hpa exists", "'hpa'", HPA),
        ("# Dry-run autoscale", "kubectl delete hpa", HPA),
    ],
    "run_job_tests": [
        ("# Pre-condition: cronjob does not exist", "describe_resource_chunk_size_assert cronjobs", CRON),
        ("kubectl delete cronjob pi", "kubectl delete cronjob pi", CRON),
    ],
    "run_kubectl_diff_tests": [
        ("# Test found diff with server-side apply", "pause:3.4", SSA),
        ('"Testing kubectl diff with server-side apply"', "kubectl delete namespace nsbprune", f"{SSA}; {PRUNE}"),
    ],
    "run_kubectl_explain_tests": [("kubectl explain cronjob", "kubectl explain cronjob", CRON)],
    "run_kubectl_get_tests": [
        ("/replicationcontrollers", "/replicationcontrollers", RC),
        ("/horizontalpodautoscalers", "/horizontalpodautoscalers", HPA),
        ("### Test kubectl get chunk size", "clusterroles?limit=500", RBAC),
    ],
    "run_kubectl_scale_tests": [("output for ReplicationController", "kubectl delete rc frontend", RC)],
    "run_namespace_tests": [("'quota --namespace=quotas'", "kubectl delete quota", QUOTA)],
    "run_nodes_tests": [("tokenreview-v1.json", "tokenreview-v1.json", "TokenReview")],
    "run_pod_tests": [("# Pre-condition: no services and no rcs exist", "kubectl delete rc/modified", RC)] * 2,
    "run_recursive_resources_tests": [
        ("### Create replication controller recursively", "### Rollout on multiple deployments", RC),
        ("### Rollout on multiple replication controllers", "--recursive \"${kube_flags[@]}\" --grace-period=0", RC),
    ],
    "run_save_config_tests": [("## 6. kubectl autoscale", "kubectl delete rc", HPA)],
    "run_template_output_tests": [
        ("apply set-last-applied", "'cassandra:'", RC),
        ('"auth reconcile"', "'foo:'", RBAC),
        ("kubectl create \"${kube_flags[@]:?}\" -f - <<EOF", "'foo:'", CRON),
        ('"set subject"', "'foo:'", RBAC),
        ("kubectl delete cronjob", "kubectl delete cronjob", CRON),
        ("kubectl delete rc", "kubectl delete clusterrolebinding", f"{RC}, {RBAC}"),
    ],
}

# The same for both servers: upstream's is without the plugin ServiceAccount, by which a pod that is replaced from its file has
# changed its account; and the network is not for tests.
ACCOUNT = "the admission plugin ServiceAccount"
LEFT_OUT_OF_BOTH: dict[str, list[tuple[str, str, str]]] = {
    "run_multi_resources_tests": [("kubectl create -f https://raw", "kubectl delete -f https://raw", "the network")],
    "run_recursive_resources_tests": [
        ("## Replace multiple busybox PODs recursively", "'error validating data: kind not set'", ACCOUNT),
    ],
    "run_save_config_tests": [("kubectl replace -f hack/testdata/pod.yaml --save-config", "grep -q", ACCOUNT)],
}

# Words that are replaced for the simulator: (words, what stands there instead, why).
INSTEAD: dict[str, list[tuple[str, str, str]]] = {
    "run_job_tests": [("--from=cronjob/pi", "--image=perl", CRON)],
    "run_kubectl_apply_tests": [("kubectl delete resourcequota my-rq", "sleep 1", QUOTA)],
}

# Functions that want the Node to have been given up by the controllers, as it has been when upstream comes to them.
LATE = {"run_nodes_tests"}

# What stops a function all the same: {side: (where, why)}.
STOPS: dict[str, dict[str, tuple[str, str]]] = {
    "run_kubectl_events_tests": {"sim": ("events.sh:43", CRON)},
    "run_multi_resources_tests": {"sim": ("generic-resources.sh:64", RC)},
    "run_resource_aliasing_tests": {"sim": ("discovery.sh:227", RC)},
}
